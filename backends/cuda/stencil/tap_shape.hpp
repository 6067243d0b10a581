// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The usual sets of tap offsets as types: kernels unroll over them, while coefficients stay run-time data.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <array>
#include <optional>
#include <type_traits>
#include <vector>

namespace tessera::cuda {

enum class TapPattern {
  star,         ///< the point and `radius` neighbours on either side along every axis
  hollow_star,  ///< without the point itself: first derivatives
  box,          ///< every point whose coordinates differ by at most `radius`
};

template <TapPattern kPatternOf, int kRankOf, int kRadiusOf>
struct TapShape {
  static constexpr TapPattern kPattern = kPatternOf;
  static constexpr int kRank = kRankOf, kRadius = kRadiusOf, kSide = 2 * kRadius + 1;
  static constexpr int kCount = kPattern == TapPattern::box
                                    ? (kRank == 1   ? kSide
                                       : kRank == 2 ? kSide * kSide
                                                    : kSide * kSide * kSide)
                                    : kRank * 2 * kRadius + (kPattern == TapPattern::star ? 1 : 0);

  TESSERA_HOST_DEVICE static constexpr int reach(int axis) { return axis >= plugin::kAxes - kRank ? kRadius : 0; }

  /// Place of a tap among the coefficients, or -1 where the shape has no such tap.
  TESSERA_HOST_DEVICE static constexpr int place(int z, int y, int x) {
    if (z < -reach(0) || z > reach(0) || y < -reach(1) || y > reach(1) || x < -reach(2) || x > reach(2)) return -1;
    if (kPattern == TapPattern::box) return ((z + reach(0)) * (2 * reach(1) + 1) + y + reach(1)) * kSide + x + reach(2);
    const int axes = (z != 0) + (y != 0) + (x != 0);
    if (axes == 0) return kPattern == TapPattern::star ? kCount - 1 : -1;
    if (axes > 1) return -1;
    const int arm = x != 0 ? 0 : y != 0 ? 1 : 2, along = x + y + z;
    return arm * 2 * kRadius + (along < 0 ? along + kRadius : along + kRadius - 1);
  }
};

/// The coefficients in the shape's order where the list is the shape exactly, in any order: no tap more, none less.
template <class T, class Shape>
std::optional<std::array<T, Shape::kCount>> coefficients_of(const std::vector<plugin::Tap>& taps) {
  if (taps.size() != std::size_t(Shape::kCount)) return std::nullopt;
  std::array<T, Shape::kCount> coefficients{};
  std::array<bool, Shape::kCount> seen{};
  for (const plugin::Tap& tap : taps) {
    for (const std::int64_t offset : tap.offset)
      if (offset < -Shape::kRadius || offset > Shape::kRadius) return std::nullopt;
    const int place = Shape::place(int(tap.offset[0]), int(tap.offset[1]), int(tap.offset[2]));
    if (place < 0 || seen[std::size_t(place)]) return std::nullopt;
    seen[std::size_t(place)] = true;
    coefficients[std::size_t(place)] = T(tap.coefficient);
  }
  return coefficients;
}

/// Whether any of `planes` x `rows` rows of outputs reads the input's row (z, y), counted from the first of them: from
/// other places along the row (`along`), or from its own.
template <class Shape>
TESSERA_HOST_DEVICE constexpr bool reads_row(int planes, int rows, int z, int y, bool along) {
  for (int plane = 0; plane < planes; ++plane)
    for (int row = 0; row < rows; ++row)
      for (int x = -Shape::kRadius; x <= Shape::kRadius; ++x)
        if ((x != 0) == along && Shape::place(z - plane, y - row, x) >= 0) return true;
  return false;
}

template <class... Shapes>
struct TapShapes {};

/// Calls visit(Shape{}, coefficients) for the shape of the list that the problem's taps are; false where it is none.
template <class T, class... Shapes, class Visit>
bool with_shape(TapShapes<Shapes...>, const plugin::StencilProblem& problem, Visit&& visit) {
  const auto try_one = [&]<class Shape>(Shape shape) {
    if (problem.rank != Shape::kRank) return false;
    const auto coefficients = coefficients_of<T, Shape>(problem.taps);
    if (coefficients) visit(shape, *coefficients);
    return coefficients.has_value();
  };
  return (try_one(Shapes{}) || ...);
}

}  // namespace tessera::cuda
