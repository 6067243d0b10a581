// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How an axis is cut into overlapping tiles, for host and device.
#pragma once

#include <tessera/plugin/math.hpp>

namespace tessera::cuda {

inline constexpr int kLaneColumns = 4;  ///< neighbouring columns of a lane
inline constexpr int kWarpColumns = 32 * kLaneColumns;

/// The points of an axis that a tile holds, and those that it writes.
struct AxisTile {
  int begin;                   ///< the first point that it holds
  int write_begin, write_end;  ///< it writes [write_begin, write_end)
  bool low, high;              ///< its first point, its last point ends a closed axis
};

/// Tiles of `width` points overlap: a pass spoils `halo` of them on either side, unless the axis ends there. A tile at
/// a closed end begins or ends with the axis, so that the end lies between two lanes. All other tiles begin at
/// multiples of `alignment`. A closed axis has at least `width` points.
struct AxisTiling {
  int extent, width, halo, alignment;
  bool closed;

  /// Points that a tile writes: one between others, one at a closed end.
  TESSERA_HOST_DEVICE int inner_width() const { return width - 2 * halo; }
  TESSERA_HOST_DEVICE int outer_width() const { return width - halo; }

  TESSERA_HOST_DEVICE int count() const {
    if (!closed) return plugin::ceil_div(extent, inner_width());
    if (extent == width) return 1;
    const int between = extent - 2 * outer_width();
    return between > 0 ? 2 + plugin::ceil_div(between, inner_width()) : 2;
  }

  TESSERA_HOST_DEVICE AxisTile tile(int index, int count) const {
    if (!closed) {
      const int begin = index * inner_width();
      return {begin - halo, begin, smaller(begin + inner_width(), extent), false, false};
    }
    if (count == 1) return {0, 0, extent, true, true};
    const int last = plugin::round_up(extent - outer_width(), alignment);
    if (index == 0) return {0, 0, smaller(outer_width(), last), true, false};
    if (index == count - 1) return {extent - width, last, extent, false, true};
    const int begin = outer_width() + (index - 1) * inner_width();
    const int most = (extent - width) / alignment * alignment;
    return {smaller(begin - halo, most), begin, smaller(begin + inner_width(), last), false, false};
  }

 private:
  TESSERA_HOST_DEVICE static int smaller(int a, int b) { return a < b ? a : b; }
};

}  // namespace tessera::cuda
