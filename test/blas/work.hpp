// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products through BLAS's interface whose bits are known.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

using Dgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*);

/// Products of many sizes, more than a thread's table holds, and one that several threads share.
class Products {
 public:
  /// `count`: all of them, or the smallest.
  explicit Products(Dgemm dgemm, int count = kCount)
      : dgemm_(dgemm), ones_(std::size_t(kLargest) * kLargest), count_(count) {
    for (std::size_t i = 0; i < ones_.size(); ++i) ones_[i] = 1.0 / double(1 + i % 97);
    for (int i = 0; i < count_; ++i) expected_.push_back(compute(i));
  }

  static constexpr int kCount = 90;
  /// Throws where the bits are others than the first time.
  void check(int i) const {
    const std::vector<double> c = compute(i);
    const std::vector<double>& e = expected_[std::size_t(i)];
    if (std::memcmp(c.data(), e.data(), e.size() * sizeof(double)) != 0)
      throw std::runtime_error("product " + std::to_string(i) + " has other bits");
  }
  void check_all() const {
    for (int i = 0; i < count_; ++i) check(i);
  }

 private:
  static constexpr int kLargest = 300;

  std::vector<double> compute(int i) const {
    const int n = i + 1 == kCount ? kLargest : i + 1, m = n, k = n / 2 + 1;
    std::vector<double> c(std::size_t(m) * std::size_t(n), 0.5);
    const int ld = n == kLargest ? kLargest : 96;  // most are small enough to be kept
    const double alpha = 0.75, beta = -1.25;
    dgemm_(i % 2 == 0 ? "N" : "T", "N", &m, &n, &k, &alpha, ones_.data(), &ld, ones_.data() + 1, &ld, &beta, c.data(),
           &m);
    return c;
  }

  Dgemm dgemm_;
  std::vector<double> ones_;
  int count_;
  std::vector<std::vector<double>> expected_;
};

}  // namespace tessera::test
