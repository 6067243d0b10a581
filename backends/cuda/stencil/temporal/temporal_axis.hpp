// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One axis of the domain as the kernels of the temporal algorithm see it.
#pragma once

#include <tessera/plugin/boundary.hpp>

#include "temporal.hpp"

namespace tessera::cuda {

/// An axis on which the taps reach equally far to both sides, whose extent is more than twice that reach, and whose
/// sides are both periodic or both not. A periodic axis wraps around; any other is closed. S: the type of values.
template <class S>
struct TemporalAxis {
  int extent;
  int radius;
  std::int32_t mode[2];  ///< tessera_boundary of the low and the high side
  S value[2];

  TemporalAxis() = default;
  TemporalAxis(const plugin::Domain& domain, int axis)
      : extent(int(domain.extents[axis])),
        radius(int(domain.reach[axis][0])),
        mode{domain.mode[axis][0], domain.mode[axis][1]},
        value{S(domain.value[axis][0]), S(domain.value[axis][1])} {}

  TESSERA_HOST_DEVICE bool closed() const { return mode[0] != TESSERA_BOUNDARY_PERIODIC; }
  TESSERA_HOST_DEVICE bool contains(int i) const { return i >= 0 && i < extent; }

  /// True for a point that keeps its value.
  TESSERA_HOST_DEVICE bool frozen(int i) const {
    return (mode[0] == TESSERA_BOUNDARY_FIXED && i < radius) ||
           (mode[1] == TESSERA_BOUNDARY_FIXED && i >= extent - radius);
  }

  /// First and last point that has no boundary within its reach and is read by no point that has one.
  TESSERA_HOST_DEVICE int inner_begin() const { return closed() ? 2 * radius : -(1 << 30); }
  TESSERA_HOST_DEVICE int inner_last() const { return closed() ? extent - 1 - 2 * radius : 2147483647; }
  TESSERA_HOST_DEVICE bool inner(int i) const { return i >= inner_begin() && i <= inner_last(); }

  /// Of a point outside a closed end: whether it has a constant value, and otherwise the point that is read instead.
  TESSERA_HOST_DEVICE bool constant(int i) const { return mode[i < 0 ? 0 : 1] == TESSERA_BOUNDARY_CONSTANT; }
  TESSERA_HOST_DEVICE int mapped(int i) const {
    const int outwards = i < 0 ? -1 - i : i - extent;
    const int side = i < 0 ? 0 : 1;
    const int inwards = mode[side] == TESSERA_BOUNDARY_NEAREST   ? 0
                        : mode[side] == TESSERA_BOUNDARY_REFLECT ? outwards
                                                                 : outwards + 1;
    return side == 0 ? inwards : extent - 1 - inwards;
  }
};

/// What a row (in 3D: a plane) near an end of the sweep axis contributes when it arrives, beside what any row does.
struct SweepEnds {
  unsigned bits[2][2 * kTemporalMostRadius] = {};  ///< by side and distance from the end

  /// Row y = (arriving row) - radius + k reads row y + offset, which is outside. Either the arriving row is read
  /// instead, or the outside is constant and y itself arrives.
  TESSERA_HOST_DEVICE static constexpr unsigned outside(int k, int offset) {
    return 1u << (k * kTemporalSpan + offset + kTemporalMostRadius);
  }
  /// Any of these for a k.
  TESSERA_HOST_DEVICE static constexpr unsigned outside(int k) {
    return ((1u << kTemporalSpan) - 1) << (k * kTemporalSpan);
  }
  /// Row y keeps its value.
  TESSERA_HOST_DEVICE static constexpr unsigned frozen(int k) { return 1u << (kTemporalSpan * kTemporalSpan + k); }

  SweepEnds() = default;
  template <class S>
  explicit SweepEnds(const TemporalAxis<S>& rows) {
    const int r = rows.radius;
    for (int side = 0; side < 2; ++side)
      for (int distance = 0; distance < 2 * r && rows.closed(); ++distance)
        for (int k = 0; k <= 2 * r; ++k) {
          const int arriving = side == 0 ? distance : rows.extent - 1 - distance, y = arriving - r + k;
          if (rows.frozen(y)) bits[side][distance] |= frozen(k);
          for (int offset = -r; offset <= r; ++offset) {
            const int read = y + offset;
            if (!rows.contains(y) || rows.frozen(y) || (side == 0 ? read >= 0 : read < rows.extent)) continue;
            if (rows.constant(read) ? k == r : rows.mapped(read) == arriving)
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
