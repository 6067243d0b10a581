// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the resident algorithm cuts an axis into pieces that overlap, for host and device.
#pragma once

#include <tessera/plugin/boundary.hpp>

namespace tessera::cuda {

/// Every piece holds `size` points and owns some of them. Up to `margin` points on either side of its own are kept by
/// its neighbours for it, unless a closed axis ends there; what it holds beyond is not used. The first and the last
/// piece of a closed axis hold its ends, as their first and their last point, and so own `margin` points more.
struct ResidentCut {
  int extent, count, size, margin;
  int unit;  ///< pieces own, and but the last of a closed axis hold, from a multiple of it on; so is the margin
  bool closed;

  TESSERA_HOST_DEVICE bool ends_low(int piece) const { return closed && piece == 0; }
  TESSERA_HOST_DEVICE bool ends_high(int piece) const { return closed && piece == count - 1; }

  /// The first of its own points. Those of the next piece follow.
  TESSERA_HOST_DEVICE int from(int piece) const {
    if (piece <= 0) return 0;
    if (piece >= count) return extent;
    const int more = closed ? margin : 0;
    return (more + (extent - 2 * more) * piece / count) / unit * unit;
  }

  /// The first point that it holds; negative, before a periodic axis.
  TESSERA_HOST_DEVICE int begin(int piece) const {
    if (!closed) return from(piece) - margin;
    if (piece == 0) return 0;
    const int last = extent - size;
    if (piece == count - 1) return last;
    const int begin = from(piece) - margin;
    return begin < last ? begin : last / unit * unit;
  }

  /// The piece that owns what lies behind an end of this one: `side` -1, 1, or 0 for the piece itself. -1: there is
  /// none.
  TESSERA_HOST_DEVICE int neighbour(int piece, int side) const {
    const int other = piece + side;
    if (other >= 0 && other < count) return other;
    return closed ? -1 : (other + count) % count;
  }

  /// What, added to an index on the axis as the piece counts it, gives that point's place among those of its neighbour.
  TESSERA_HOST_DEVICE int shift(int piece, int side) const {
    const int turns = piece + side < 0 ? 1 : piece + side >= count ? -1 : 0;
    return turns * extent - begin(neighbour(piece, side));
  }

  /// Whether pieces are large enough for what they own with its margins, and the margins for their neighbours alone.
  bool fits() const {
    if (count < 1 || (closed && size > extent)) return false;
    for (int piece = 0; piece < count; ++piece) {
      const int own = from(piece + 1) - from(piece), low = ends_low(piece) ? 0 : margin,
                high = ends_high(piece) ? 0 : margin;
      if (own < 1 || (count > 1 || !closed ? own < margin : size != extent)) return false;
      if (from(piece) - low < begin(piece) || from(piece + 1) + high > begin(piece) + size) return false;
    }
    return true;
  }
};

}  // namespace tessera::cuda
