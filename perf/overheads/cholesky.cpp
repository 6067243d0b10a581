// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cholesky.hpp"

#include "cases.hpp"
#include "random.hpp"
#include "wide.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera::perf {

BlockedCholesky::BlockedCholesky(const std::function<Execute(const Problem&)>& prepare, std::uint64_t seed)
    : a_(std::size_t(kSize * kSize)), l_(a_.size()) {
  // The eigenvalues of the random part lie within 2 sqrt(kSize / 3) (Wigner).
  const float diagonal = 2.0f * std::sqrt(float(kSize));
  for (std::int64_t i = 0; i < kSize; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const auto at = std::size_t(i * kSize + j);
      a_[at] = float(random_value(seed, at)) + (i == j ? diagonal : 0.0f);
    }
  for (std::int64_t j = 1; j < kTiles; ++j) {
    Case c;
    c.problem.name = "tiles_" + std::to_string(j);
    c.problem.gemm = {kTile, kTile, j * kTile, false, true, kSize, kSize, kTile, 1};
    multiply_.push_back(prepare(resolve(c, DType::f32)));
  }
}

void BlockedCholesky::factorize() {
  for (std::int64_t j = 0; j < kTiles; ++j)
    for (std::int64_t i = j; i < kTiles; ++i) {
      if (j > 0) {
        const void* const in[] = {tile(i, 0), tile(j, 0)};
        multiply_[std::size_t(j - 1)](in, sums_);
      } else {
        std::fill(std::begin(sums_), std::end(sums_), 0.0f);
      }
      subtract(i, j);
      i == j ? factorize_diagonal(j) : solve(i, j);
    }
}

void BlockedCholesky::subtract(std::int64_t i, std::int64_t j) {
  float* const to = tile(i, j);
  const float* const from = &a_[std::size_t(to - l_.data())];
  for (std::int64_t r = 0; r < kTile; ++r)
    for (std::int64_t c = 0; c < kTile; ++c) to[r * kSize + c] = from[r * kSize + c] - sums_[r * kTile + c];
}

void BlockedCholesky::factorize_diagonal(std::int64_t j) {
  float* const x = tile(j, j);
  for (std::int64_t c = 0; c < kTile; ++c) {
    x[c * kSize + c] = std::sqrt(x[c * kSize + c]);
    for (std::int64_t r = c + 1; r < kTile; ++r) {
      x[r * kSize + c] /= x[c * kSize + c];
      upper_[c * kTile + r] = x[r * kSize + c];
      for (std::int64_t t = c + 1; t <= r; ++t) x[r * kSize + t] -= x[r * kSize + c] * upper_[c * kTile + t];
    }
  }
}

void BlockedCholesky::solve(std::int64_t i, std::int64_t j) {
  const float* const diagonal = tile(j, j);
  for (std::int64_t r = 0; r < kTile; ++r) {
    float* const row = tile(i, j) + r * kSize;
    float x[kTile];
    std::copy_n(row, kTile, x);
    for (std::int64_t t = 0; t < kTile; ++t) {
      x[t] /= diagonal[t * kSize + t];
      const float value = x[t];
      for (std::int64_t c = 0; c < kTile; ++c) x[c] -= value * upper_[t * kTile + c];
    }
    std::copy_n(x, kTile, row);
  }
}

std::string BlockedCholesky::failure() const {
  constexpr int kSamples = 4096;
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto index = [sample](std::uint64_t seed, std::int64_t end) {
      return std::min(end - 1, std::int64_t((0.5 + 0.5 * random_value(seed, std::uint64_t(sample))) * double(end)));
    };
    const std::int64_t i = sample == 0 ? kSize - 1 : index(1, kSize), j = sample == 0 ? i : index(2, i + 1);
    double sum = 0.0, magnitude = 0.0;
    for (std::int64_t t = 0; t <= j; ++t) {
      const double product = double(l_[std::size_t(i * kSize + t)]) * double(l_[std::size_t(j * kSize + t)]);
      sum += product, magnitude += std::abs(product);
    }
    // |A - L L^T| <= gamma (|L| |L|^T), gamma for n + 1 rounding errors (Higham, Accuracy and Stability of Numerical
    // Algorithms, 2nd ed., theorem 10.3), whatever the order of the sums.
    const double bound = 1.01 * double(kSize + 1) * kUnitRoundoff<float> * magnitude;
    const double error = std::abs(sum - double(a_[std::size_t(i * kSize + j)]));
    if (error <= bound) continue;
    char text[128];
    std::snprintf(text, sizeof text, "element (%d, %d) of L L^T is wrong by %.3g, more than %.3g", int(i), int(j),
                  error, bound);
    return text;
  }
  return {};
}

}  // namespace tessera::perf
