// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How blocks lie whose cells are in shared memory. Without CUDA.
#pragma once

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/problem.hpp>
#include <tessera/plugin/tap_box.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// Points that a block may have on an axis.
inline constexpr std::int64_t kFarthestPart = std::int64_t(1) << 30;

/// Whether taps are so near that sizes of a block are numbers of 32 bits.
inline bool is_near(const plugin::TapBox& box) {
  constexpr std::int64_t kFarthest = 1 << 16;
  for (std::size_t axis = 0; axis < box.first.size(); ++axis)
    if (box.first[axis] < -kFarthest || box.first[axis] + box.count[axis] > kFarthest) return false;
  return true;
}

/// Whether the type of a problem holds the values of its constant sides.
inline bool holds_constants(const plugin::StencilProblem& p) {
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    for (int axis = 0; axis < plugin::kAxes; ++axis)
      for (int side = 0; side < 2; ++side) {
        const Scalar<T> value = Scalar<T>(p.domain.value[axis][side]);
        if (p.domain.mode[axis][side] == TESSERA_BOUNDARY_CONSTANT && !(Scalar<T>(T(value)) == value) && value == value)
          return false;
      }
    return true;
  });
}

/// Cells before those that a row of vectors of `width` begins with, so that copies of `vector` cells begin on a
/// multiple of as many, where that is so of the vectors.
inline int cells_before(int first, int width, int vector) {
  const int off = (first % vector + vector) % vector;
  return off % width == 0 ? off : 0;
}

/// How taps that begin `first` behind a point are cut into vectors of `width`, so that their cells begin on one.
struct TapVectors {
  int lead;  ///< what the first one lacks
  int rest;  ///< taps of the last one, if it has not all

  TapVectors(int first, int taps, int width)
      : lead(std::max((first % width + width) % width, width - taps)), rest((lead + taps) % width) {}
};

/// Points before a row of `extent` with which blocks of `span` begin, so that cells, the first of which lies `first`
/// behind a point, begin on a vector of `width`: none where that takes more blocks.
inline int points_before(std::int64_t first, int width, std::int64_t extent, int span) {
  const int early = int((first % width + width) % width);
  return plugin::ceil_div<std::int64_t>(extent + early, span) == plugin::ceil_div<std::int64_t>(extent, span) ? early
                                                                                                              : 0;
}

}  // namespace tessera::cuda
