// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One axis as the tiles of the temporal algorithm see it.
#pragma once

#include <tessera/plugin/boundary.hpp>

#include <algorithm>
#include <cstdint>

namespace tessera::cpu {

/// Points [begin, end) of an axis.
struct Span {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
  bool holds(std::int64_t i) const { return begin <= i && i < end; }
};

/// The domain for tiles that compute the points behind a periodic side themselves: such a side is a halo.
inline plugin::Domain unrolled(plugin::Domain d) {
  for (auto& sides : d.mode)
    for (auto& mode : sides)
      if (mode == TESSERA_BOUNDARY_PERIODIC) mode = TESSERA_BOUNDARY_HALO;
  return d;
}

/// Coordinates of an axis are indices, which go on behind both sides of a periodic axis. Other sides end the axis: taps
/// are mapped within it, at most `radius` away.
class TileAxis {
 public:
  TileAxis() = default;
  TileAxis(const plugin::Domain& d, int axis)
      : extent_(d.extents[axis]),
        radius_(std::max(d.reach[axis][0], d.reach[axis][1])),
        endless_(d.mode[axis][0] == TESSERA_BOUNDARY_PERIODIC) {}

  std::int64_t extent() const { return extent_; }
  /// How far a step reaches in both directions: a mirror at one side makes taps to the other side.
  std::int64_t radius() const { return radius_; }

  /// The coordinates that `steps` steps to all of `core` read.
  Span around(Span core, std::int64_t steps) const {
    const Span wide{core.begin - steps * radius_, core.end + steps * radius_};
    return endless_ ? wide : Span{std::max<std::int64_t>(wide.begin, 0), std::min(wide.end, extent_)};
  }

  /// Periodic: no point of the axis has a boundary.
  bool endless() const { return endless_; }
  /// The index that a coordinate stands for.
  std::int64_t index(std::int64_t c) const { return c >= 0 && c < extent_ ? c : (c % extent_ + extent_) % extent_; }

 private:
  std::int64_t extent_ = 0, radius_ = 0;
  bool endless_ = false;
};

}  // namespace tessera::cpu
