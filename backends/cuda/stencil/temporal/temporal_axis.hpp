// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One axis of the domain as the kernels of the temporal algorithm see it.
#pragma once

#include <tessera/plugin/boundary.hpp>

#include "temporal.hpp"

namespace tessera::cuda {

/// The taps reach equally far to both sides, the extent is more than twice as much, and the sides are periodic both or
/// not at all. A periodic axis goes on behind its ends; any other is closed.
template <class T>
struct TemporalAxis {
  int extent;
  int radius;
  std::int32_t mode[2];  ///< tessera_boundary of the low and the high side
  T value[2];

  TemporalAxis() = default;
  TemporalAxis(const plugin::Domain& domain, int axis)
      : extent(int(domain.extents[axis])),
        radius(int(domain.reach[axis][0])),
        mode{domain.mode[axis][0], domain.mode[axis][1]},
        value{T(domain.value[axis][0]), T(domain.value[axis][1])} {}

  TESSERA_HOST_DEVICE bool closed() const { return mode[0] != TESSERA_BOUNDARY_PERIODIC; }
  TESSERA_HOST_DEVICE bool holds(int i) const { return i >= 0 && i < extent; }

  /// True for a point that keeps its value.
  TESSERA_HOST_DEVICE bool frozen(int i) const {
    return (mode[0] == TESSERA_BOUNDARY_FIXED && i < radius) ||
           (mode[1] == TESSERA_BOUNDARY_FIXED && i >= extent - radius);
  }

  /// First and last point that neither has a boundary within its reach nor is read by one that has.
  TESSERA_HOST_DEVICE int inner_begin() const { return closed() ? 2 * radius : -(1 << 30); }
  TESSERA_HOST_DEVICE int inner_last() const { return closed() ? extent - 1 - 2 * radius : 2147483647; }
  TESSERA_HOST_DEVICE bool inner(int i) const { return i >= inner_begin() && i <= inner_last(); }

  /// Of a point outside a closed end: whether it has a constant value, and otherwise the point that stands for it.
  TESSERA_HOST_DEVICE bool constant(int i) const { return mode[i < 0 ? 0 : 1] == TESSERA_BOUNDARY_CONSTANT; }
  TESSERA_HOST_DEVICE int stand_in(int i) const {
    const int outwards = i < 0 ? -1 - i : i - extent;
    const int side = i < 0 ? 0 : 1;
    const int inwards = mode[side] == TESSERA_BOUNDARY_NEAREST   ? 0
                        : mode[side] == TESSERA_BOUNDARY_REFLECT ? outwards
                                                                 : outwards + 1;
    return side == 0 ? inwards : extent - 1 - inwards;
  }
};

/// What rows (planes) near the ends of the axis of the stream do when they arrive, beside being read where they are.
struct StreamEnds {
  unsigned bits[2][2 * kTemporalMostRadius] = {};  ///< by side and distance from the end

  /// Row y = (arriving row) - radius + k reads row y + offset, which is outside: the arriving row stands for it, or it
  /// is constant and y itself arrives.
  TESSERA_HOST_DEVICE static constexpr unsigned outside(int k, int offset) {
    return 1u << (k * kTemporalSpan + offset + kTemporalMostRadius);
  }
  /// Any of these for a k.
  TESSERA_HOST_DEVICE static constexpr unsigned outside(int k) {
    return ((1u << kTemporalSpan) - 1) << (k * kTemporalSpan);
  }
  /// Row y keeps its value.
  TESSERA_HOST_DEVICE static constexpr unsigned frozen(int k) { return 1u << (kTemporalSpan * kTemporalSpan + k); }

  StreamEnds() = default;
  template <class T>
  explicit StreamEnds(const TemporalAxis<T>& rows) {
    const int r = rows.radius;
    for (int side = 0; side < 2; ++side)
      for (int distance = 0; distance < 2 * r && rows.closed(); ++distance)
        for (int k = 0; k <= 2 * r; ++k) {
          const int arriving = side == 0 ? distance : rows.extent - 1 - distance, y = arriving - r + k;
          if (rows.frozen(y)) bits[side][distance] |= frozen(k);
          for (int offset = -r; offset <= r; ++offset) {
            const int read = y + offset;
            if (!rows.holds(y) || rows.frozen(y) || (side == 0 ? read >= 0 : read < rows.extent)) continue;
            if (rows.constant(read) ? k == r : rows.stand_in(read) == arriving)
              bits[side][distance] |= outside(k, offset);
          }
        }
  }

  TESSERA_HOST_DEVICE unsigned at(int arriving, int extent) const {
    const int high = extent - 1 - arriving;
    return (arriving < 2 * kTemporalMostRadius ? bits[0][arriving] : 0u) |
           (high < 2 * kTemporalMostRadius ? bits[1][high] : 0u);
  }
};

}  // namespace tessera::cuda
