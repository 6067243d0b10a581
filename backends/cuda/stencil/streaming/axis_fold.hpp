// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Positions beyond the ends of an axis, found without divisions and branches. Plain arithmetic that host and device
/// share.
#pragma once

#include <tessera/plugin/boundary.hpp>

#include <cstdint>

namespace tessera::cuda {

/// What lies beyond the ends of an axis, for taps that reach no farther than the axis is long: a side's points are then
/// the axis's own, in order or in reverse, or one of them, or a value. A fixed side's are used for no point that is
/// computed; they can be read as those of nearest. In 32 bits, where integers take a quarter of the instructions.
class AxisFold {
 public:
  AxisFold() = default;
  AxisFold(const plugin::Domain& domain, int axis) : extent_(std::int32_t(domain.extents[axis])) {
    for (int side = 0; side < 2; ++side) {
      const std::int32_t mode = domain.mode[axis][side];
      constant_[side] = mode == TESSERA_BOUNDARY_CONSTANT;
      const bool forward = mode == TESSERA_BOUNDARY_PERIODIC || mode == TESSERA_BOUNDARY_HALO;
      const bool backward = mode == TESSERA_BOUNDARY_REFLECT || mode == TESSERA_BOUNDARY_MIRROR;
      const bool moves = extent_ > 0 && (forward || backward);
      // So that the first position outside is what the mode says.
      const std::int32_t outside = side == 0 ? -1 : extent_, end = side == 0 ? 0 : extent_ - 1;
      const std::int32_t first = moves ? std::int32_t(domain.mapped(axis, outside)) : end;
      slope_[side] = (!moves ? 0 : forward ? 1 : -1) - 1;
      away_[side] = first - outside - slope_[side] * outside;
    }
  }

  /// Whether that is so for the domain's taps, and fits into 32 bits.
  static bool holds(const plugin::Domain& domain, int axis) {
    constexpr std::int64_t kLongest = std::int64_t(1) << 29;
    const auto holds_on = [&](int side) {
      const std::int32_t mode = domain.mode[axis][side];
      const bool wraps = mode == TESSERA_BOUNDARY_PERIODIC || mode == TESSERA_BOUNDARY_REFLECT;
      const std::int64_t most = domain.extents[axis] - (mode == TESSERA_BOUNDARY_MIRROR ? 1 : 0);
      const bool once = !(wraps || mode == TESSERA_BOUNDARY_MIRROR) || domain.reach[axis][side] <= most;
      return once && domain.reach[axis][side] <= kLongest;
    };
    return domain.extents[axis] <= kLongest && holds_on(0) && holds_on(1);
  }

  /// How far from position i the point lies that is read there; where a value stands, some point.
  TESSERA_HOST_DEVICE std::int32_t away(std::int32_t i) const {
    const std::int32_t low = slope_[0] * i + away_[0], high = slope_[1] * i + away_[1];
    return i < 0 ? low : i >= extent_ ? high : 0;
  }

  /// Whether the constant of a side stands at position i.
  TESSERA_HOST_DEVICE bool constant(std::int32_t i) const {
    return (i < 0 && constant_[0]) || (i >= extent_ && constant_[1]);
  }

 private:
  std::int32_t extent_;
  std::int32_t slope_[2], away_[2];  ///< of each side: position i reads the point slope * i + away from it
  bool constant_[2];
};

}  // namespace tessera::cuda
