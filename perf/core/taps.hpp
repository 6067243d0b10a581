// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The taps of the stencil cases as compile-time constants: the plain peers are compiled from them, the plans of the
/// library get them as run-time data.
#pragma once

#include "problem.hpp"

#include <array>

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

/// In the order of the offsets. Star and box: all coefficients differ from their neighbours (a symmetric list would
/// hide swapped taps) and sum |c| = 1, so that rounding errors do not grow with the steps. Derivative: the first, of
/// accuracy order 8.
template <Pattern kPattern, int kRank, int kRadius>
constexpr auto constant_taps() {
  constexpr int count = tap_count(kPattern, kRank, kRadius);
  std::array<ConstantTap, count> taps{};
  int at = 0;
  double sum = 0.0;
  for (int z = kRank > 2 ? -kRadius : 0; z <= (kRank > 2 ? kRadius : 0); ++z)
    for (int y = kRank > 1 ? -kRadius : 0; y <= (kRank > 1 ? kRadius : 0); ++y)
      for (int x = -kRadius; x <= kRadius; ++x) {
        const int axes = (z != 0) + (y != 0) + (x != 0);
        if (kPattern == Pattern::star && axes > 1) continue;
        if (kPattern == Pattern::derivative && axes == 0) continue;
        taps[std::size_t(at)] = {z, y, x, double(1 + at * 7 % 5)};
        sum += taps[std::size_t(at)].coefficient;
        ++at;
      }
  constexpr double derivative[] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  for (auto& tap : taps) {
    if (kPattern == Pattern::derivative)
      tap.coefficient = tap.x > 0 ? derivative[(tap.x - 1) % 4] : -derivative[(-tap.x - 1) % 4];
    else
      tap.coefficient /= sum;
  }
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

}  // namespace tessera::perf
