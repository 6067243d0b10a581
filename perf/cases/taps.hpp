// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The taps of the stencil cases. The plain peers are compiled from those of some shapes, the plans of the library get
/// them as run-time data.
#pragma once

#include "problem.hpp"

#include <array>
#include <vector>

namespace tessera::perf {

struct ConstantTap {
  int z = 0, y = 0, x = 0;
  double coefficient = 0.0;
};

constexpr int tap_count(Pattern pattern, int rank, int radius) {
  const int side = 2 * radius + 1;
  if (pattern == Pattern::derivative) return 2 * radius;
  if (pattern == Pattern::star) return rank * 2 * radius + 1;
  return rank == 1 ? side : rank == 2 ? side * side : side * side * side;
}

/// Of the central difference of the first derivative with `radius` points on each side, of accuracy order 2 radius:
/// (-1)^(k+1) r!^2 / (k (r-k)! (r+k)!) at the distance k.
constexpr double derivative_coefficient(int k, int radius) {
  double above = k % 2 == 0 ? -1.0 : 1.0, below = k;
  for (int i = 1; i <= radius; ++i) above *= double(i) * i;
  for (int i = 1; i <= radius - k; ++i) below *= i;
  for (int i = 1; i <= radius + k; ++i) below *= i;
  return above / below;
}

/// Fills a list of tap_count() taps, in the order of the offsets. Star and box: all coefficients differ from their
/// neighbours (a symmetric list would hide swapped taps) and sum |c| = 1, so that rounding errors do not grow with the
/// steps. A product is a box of products of a factor for each axis.
template <class List>
constexpr void fill_taps(List& taps, Pattern pattern, int rank, int radius) {
  const auto factor = [](int place) { return double(1 + (place + 100) * 7 % 5); };
  std::size_t at = 0;
  double sum = 0.0;
  for (int z = rank > 2 ? -radius : 0; z <= (rank > 2 ? radius : 0); ++z)
    for (int y = rank > 1 ? -radius : 0; y <= (rank > 1 ? radius : 0); ++y)
      for (int x = -radius; x <= radius; ++x) {
        const int axes = (z != 0) + (y != 0) + (x != 0);
        if (pattern == Pattern::star && axes > 1) continue;
        if (pattern == Pattern::derivative && axes == 0) continue;
        taps[at] = {z, y, x, double(1 + at * 7 % 5)};
        if (pattern == Pattern::product) taps[at].coefficient = factor(z) * factor(y + 1) * factor(x + 2);
        sum += taps[at].coefficient;
        ++at;
      }
  for (auto& tap : taps) {
    if (pattern == Pattern::derivative)
      tap.coefficient = tap.x > 0 ? derivative_coefficient(tap.x, radius) : -derivative_coefficient(-tap.x, radius);
    else
      tap.coefficient /= sum;
  }
}

template <Pattern kPattern, int kRank, int kRadius>
constexpr auto constant_taps() {
  std::array<ConstantTap, tap_count(kPattern, kRank, kRadius)> taps{};
  fill_taps(taps, kPattern, kRank, kRadius);
  return taps;
}

/// The same of any shape, when the program runs.
inline std::vector<ConstantTap> taps_of(const StencilShape& shape) {
  std::vector<ConstantTap> taps(std::size_t(tap_count(shape.pattern, shape.rank, shape.radius)));
  fill_taps(taps, shape.pattern, shape.rank, shape.radius);
  return taps;
}

/// Calls f.template operator()<pattern, rank, radius>() for the shape; false where there is none.
template <class F>
bool with_shape(const StencilShape& shape, F&& f) {
  bool found = false;
  const auto attempt = [&]<Pattern kPattern, int kRank, int kRadius>() {
    if (shape.pattern == kPattern && shape.rank == kRank && shape.radius == kRadius) {
      f.template operator()<kPattern, kRank, kRadius>();
      found = true;
    }
  };
  attempt.template operator()<Pattern::derivative, 1, 4>();
  attempt.template operator()<Pattern::star, 1, 1>();
  attempt.template operator()<Pattern::star, 1, 2>();
  attempt.template operator()<Pattern::star, 1, 3>();
  attempt.template operator()<Pattern::star, 1, 4>();
  attempt.template operator()<Pattern::star, 2, 1>();
  attempt.template operator()<Pattern::star, 2, 2>();
  attempt.template operator()<Pattern::star, 2, 3>();
  attempt.template operator()<Pattern::star, 2, 4>();
  attempt.template operator()<Pattern::box, 2, 1>();
  attempt.template operator()<Pattern::box, 2, 2>();
  attempt.template operator()<Pattern::box, 2, 3>();
  attempt.template operator()<Pattern::star, 3, 1>();
  attempt.template operator()<Pattern::star, 3, 2>();
  attempt.template operator()<Pattern::star, 3, 3>();
  attempt.template operator()<Pattern::star, 3, 4>();
  attempt.template operator()<Pattern::box, 3, 1>();
  return found;
}

/// Whether the plain peers have the shape's taps compiled in.
inline bool is_compiled(const StencilShape& shape) {
  bool found = false;  // what captures nothing would be a function as well, of which nvcc warns
  with_shape(shape, [&found]<Pattern, int, int>() { found = true; });
  return found;
}

}  // namespace tessera::perf
