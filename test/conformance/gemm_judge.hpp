// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Whether what a product wrote is what is expected. Each function returns "" or what is wrong.
#pragma once

#include "runner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tessera::test {

/// Takes the elements that may be written, one by one; what is left must have the bits of before.
template <class V>
class Gaps {
 public:
  Gaps(const GuardedArray<V>& now, const std::vector<V>& before) : left_(now.copy()), before_(before) {}
  void take(std::int64_t place) { left_[std::size_t(place)] = before_[std::size_t(place)]; }
  std::string judge(const std::string& of) const {
    const bool intact = left_.empty() || std::memcmp(left_.data(), before_.data(), left_.size() * sizeof(V)) == 0;
    return intact ? "" : "an element of the gaps in " + of + " was written";
  }

 private:
  std::vector<V> left_;
  const std::vector<V>& before_;
};

/// A matrix of a batch after another. `bound`: empty where every sum is exact.
template <class D>
std::string judge_matrix(const std::string& name, const MatrixLayout& layout, const GuardedArray<D>& now,
                         const std::vector<D>& before, const std::vector<Wide<D>>& value,
                         const std::vector<Wide<D>>& bound) {
  Gaps<D> gaps(now, before);
  std::size_t at = 0, wrong = 0;
  std::string first;
  for (std::int64_t l = 0; l < layout.batch; ++l)
    for (std::int64_t i = 0; i < layout.rows; ++i)
      for (std::int64_t j = 0; j < layout.columns; ++j, ++at) {
        const std::int64_t place = layout.at(l, i, j);
        const Wide<D> allowed = bound.empty() ? 0 : bound[at];
        gaps.take(place);
        if (acceptable<D>(now[place], value[at], allowed)) continue;
        if (wrong++ == 0)
          first = name + "(" + std::to_string(i) + ", " + std::to_string(j) + ") of matrix " + std::to_string(l) +
                  ": " + disagreement<D>(now[place], value[at], allowed);
      }
  if (wrong > 0) return std::to_string(wrong) + " of " + std::to_string(at) + " elements are wrong; " + first;
  return gaps.judge(name);
}

/// The gradient of a bias beside what D holds: N numbers are added with (N + 1) u of their sizes.
template <class D, class V>
std::string judge_gradient(const GemmDesc& desc, const GemmLayout& layout, const GuardedArray<D>& d,
                           const GuardedArray<V>& now, const std::vector<V>& before) {
  const bool per_row = is_per_row(desc.bias);
  const MatrixLayout& b = layout.bias;
  const std::int64_t each = layout.d.batch / std::max<std::int64_t>(b.batch, 1);
  const std::int64_t terms = per_row ? layout.d.columns : layout.d.rows;
  Gaps<V> gaps(now, before);
  for (std::int64_t vector = 0; vector < b.batch; ++vector)
    for (std::int64_t value = 0; value < b.rows; ++value) {
      Wide<D> sum = 0;
      double size = 0;
      for (std::int64_t item = 0; item < each; ++item)
        for (std::int64_t term = 0; term < terms; ++term) {
          const Wide<D> x = wide(d[layout.d.at(vector + item, per_row ? value : term, per_row ? term : value)]);
          sum += x, size += std::abs(double(x));
        }
      const std::int64_t place = b.at(vector, value, 0);
      gaps.take(place);
      const double roundoff = kUnitRoundoff<Scalar<D>> + double(std::numeric_limits<Wide<D>>::epsilon());
      const double bound = double(each * terms + 1) * roundoff * size;
      if (!acceptable<V>(now[place], Wide<V>(sum), Wide<V>(bound)))
        return "value " + std::to_string(value) + " of the bias's gradient " + std::to_string(vector) + ": " +
               disagreement<V>(now[place], Wide<V>(sum), Wide<V>(bound));
    }
  return gaps.judge("the bias's gradient");
}

}  // namespace tessera::test
