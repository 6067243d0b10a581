// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the persistent algorithm cuts an axis into tiles that overlap, for host and device.
#pragma once

#include <tessera/plugin/host_device.hpp>

namespace tessera::cuda {

/// Every tile holds `size` points and owns some of them. Its neighbours own the `halo` points on either side of these,
/// unless a closed axis ends there; what it holds beyond is not used. The first and the last tile of a closed axis hold
/// its ends as their first and their last point, and so own `halo` points more.
struct PersistentTiling {
  int extent, count, size, halo;
  int alignment;  ///< own points begin at multiples of it, and so do tiles but the last of a closed axis; the halo is
                  ///< one
  bool closed;

  TESSERA_HOST_DEVICE bool ends_low(int tile) const { return closed && tile == 0; }
  TESSERA_HOST_DEVICE bool ends_high(int tile) const { return closed && tile == count - 1; }

  /// The first of its own points. Those of the next tile follow them.
  TESSERA_HOST_DEVICE int own_begin(int tile) const {
    if (tile <= 0) return 0;
    if (tile >= count) return extent;
    const int more = closed ? halo : 0;
    return (more + (extent - 2 * more) * tile / count) / alignment * alignment;
  }
  TESSERA_HOST_DEVICE int own_end(int tile) const { return own_begin(tile + 1); }

  /// The first point that it holds; negative before the first tile of a periodic axis.
  TESSERA_HOST_DEVICE int begin(int tile) const {
    if (!closed) return own_begin(tile) - halo;
    if (tile == 0) return 0;
    const int last = extent - size;
    if (tile == count - 1) return last;
    const int begin = own_begin(tile) - halo;
    return begin < last ? begin : last / alignment * alignment;
  }

  /// The tile that owns the points on one side of this one: `side` is -1 or 1, or 0 for the tile itself. -1: there is
  /// none.
  TESSERA_HOST_DEVICE int neighbour(int tile, int side) const {
    const int other = tile + side;
    if (other >= 0 && other < count) return other;
    return closed ? -1 : (other + count) % count;
  }

  /// What must be added to an index on the axis, as the tile counts it, to get the point's place in its neighbour.
  TESSERA_HOST_DEVICE int shift(int tile, int side) const {
    const int wraps = tile + side < 0 ? 1 : tile + side >= count ? -1 : 0;
    return wraps * extent - begin(neighbour(tile, side));
  }

  /// Whether tiles are large enough for their own points and halos, and halos lie within one neighbour each.
  bool valid() const {
    if (count < 1 || (closed && size > extent)) return false;
    for (int tile = 0; tile < count; ++tile) {
      const int own = own_end(tile) - own_begin(tile), low = ends_low(tile) ? 0 : halo,
                high = ends_high(tile) ? 0 : halo;
      if (own < 1 || (count > 1 || !closed ? own < halo : size != extent)) return false;
      if (own_begin(tile) - low < begin(tile) || own_end(tile) + high > begin(tile) + size) return false;
    }
    return true;
  }
};

}  // namespace tessera::cuda
