// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products with an algorithm that is forced, on numbers whose sums are exact.

#pragma once

#include "cuda_support.hpp"
#include "element_numbers.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Integers small enough that every sum is exact, in any order.
template <class T>
std::vector<T> integers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = number<T>(int(random() % 17) - 8);
  return values;
}

inline std::vector<float> fractions(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1.0f, 1.0f);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = value(random);
  return values;
}

/// Where D is, or that there is no C.
enum class Place { in_c, beside_c, without_c };

/// A product with an algorithm: D <- 2 A B - C or D <- 2 A B, beside C with the description's bias and activation.
template <class T>
class Trial {
 public:
  Trial(Context& context, const GemmDesc& desc, const std::string& algorithm, const std::vector<T>& a,
        const std::vector<T>& b, std::uint64_t workspace_limit = 0, Place place = Place::in_c)
      : a_(context, desc.m * desc.k * desc.batch),
        b_(context, desc.k * desc.n * desc.batch),
        c_(context, desc.m * desc.n * desc.batch),
        d_(context, desc.m * desc.n * desc.batch),
        bias_(context, desc.bias == Bias::per_row ? desc.m : desc.n),
        before_(integers<T>(desc.m * desc.n * desc.batch, 61)),  // from 3 on
        has_bias_(desc.bias != Bias::none),
        beside_(has_bias_ || place == Place::beside_c),
        beta_(place == Place::without_c ? Scalar<T>(0) : Scalar<T>(-1)),
        plan_(context, desc, {.operands = Memory::device, .algorithm = algorithm, .workspace_limit = workspace_limit}) {
    a_.upload(a);
    b_.upload(b);
    bias_.upload(integers<T>(bias_.size(), 7));
  }

  /// The numbers that the elements of D are.
  std::vector<double> result() {
    c_.upload(before_);
    if (has_bias_)
      plan_.execute(kAlpha, a_.data(), b_.data(), beta_, std::as_const(c_).data(), d_.data(), bias(bias_.data()));
    else if (beside_)
      plan_.execute(kAlpha, a_.data(), b_.data(), beta_, std::as_const(c_).data(), d_.data());
    else
      plan_.execute(kAlpha, a_.data(), b_.data(), beta_, c_.data());
    std::vector<T> elements(before_.size());
    (beside_ ? d_ : c_).download(elements);
    std::vector<double> values;
    for (const T element : elements) values.push_back(double(wide(element)));
    return values;
  }

 private:
  static constexpr Scalar<T> kAlpha = 2;
  Buffer<T> a_, b_, c_, d_, bias_;
  std::vector<T> before_;
  bool has_bias_, beside_;
  Scalar<T> beta_;
  GemmPlan plan_;
};

using Tiles = std::vector<std::pair<int, int>>;

}  // namespace tessera::test
