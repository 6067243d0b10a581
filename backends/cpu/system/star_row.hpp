// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A row of a system that steps one state by a star, without a buffer. Sums are taken in one order: the centre, then
/// the first axis, the last and the middle one, each from the lowest offset to the highest.
#pragma once

#include <tessera/plugin/system_star.hpp>

#include <cstdint>

namespace tessera::cpu {

/// A row, and what all rows share. Pointers are to the row's first point.
template <class T>
struct StarRow {
  const T* u;
  std::int64_t extent;      ///< points of a row
  std::int64_t row, plane;  ///< elements from a row, or a plane, of u to the next
  const T *other, *array, *damping;
  const T* profile;  ///< along the row; null: 1
  T scale;           ///< the other profiles' product
  T* next;           ///< may be `other`
  T centre[2], other_coefficient;
  T taps[3][2 * plugin::kMostStarRadius];  ///< by axis; offsets -radius to -1, 1 to radius
};

/// Makes the points [begin, end) of a row that has neighbours on all sides: those that the star leaves keep their
/// values.
template <class T>
using MakeStarRow = void (*)(const StarRow<T>&, std::int64_t begin, std::int64_t end);

/// For stars of a radius from 1 to kMostStarRadius.
template <class T>
MakeStarRow<T> star_row(plugin::StarForm form, int radius, bool profile);

}  // namespace tessera::cpu
