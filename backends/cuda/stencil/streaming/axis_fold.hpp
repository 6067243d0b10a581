// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What is read beyond the ends of an axis, without divisions and branches. Plain arithmetic that host and device
/// share.
#pragma once

#include <tessera/plugin/boundary.hpp>

#include <cstdint>

namespace tessera::cuda {

/// What is read beyond the ends of an axis by taps that reach no farther than the axis is long. The points of a side
/// are then the axis's own, in order or in reverse, or one of them, or a constant. Those of a fixed side are used for
/// no point that is computed, and are read as those of nearest. In 32 bits, where integers take a quarter of the
/// instructions.
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
      shift_[side] = first - outside - slope_[side] * outside;
    }
  }

  /// Whether the domain's taps reach no farther, and positions fit into 32 bits.
  static bool applies(const plugin::Domain& domain, int axis) {
    constexpr std::int64_t kLongest = std::int64_t(1) << 29;
    const auto applies_on = [&](int side) {
      const std::int32_t mode = domain.mode[axis][side];
      const bool wraps = mode == TESSERA_BOUNDARY_PERIODIC || mode == TESSERA_BOUNDARY_REFLECT;
      const std::int64_t most = domain.extents[axis] - (mode == TESSERA_BOUNDARY_MIRROR ? 1 : 0);
      const bool once = !(wraps || mode == TESSERA_BOUNDARY_MIRROR) || domain.reach[axis][side] <= most;
      return once && domain.reach[axis][side] <= kLongest;
    };
    return domain.extents[axis] <= kLongest && applies_on(0) && applies_on(1);
  }

  /// The distance from position i to the point that is read there. Where a constant is read: to some point.
  TESSERA_HOST_DEVICE std::int32_t shift(std::int32_t i) const {
    const std::int32_t low = slope_[0] * i + shift_[0], high = slope_[1] * i + shift_[1];
    return i < 0 ? low : i >= extent_ ? high : 0;
  }

  /// Whether position i reads the constant of a side.
  TESSERA_HOST_DEVICE bool constant(std::int32_t i) const {
    return (i < 0 && constant_[0]) || (i >= extent_ && constant_[1]);
  }

 private:
  std::int32_t extent_;
  std::int32_t slope_[2], shift_[2];  ///< of each side: position i reads the point slope * i + shift from it
  bool constant_[2];
};

}  // namespace tessera::cuda
