// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil's domain with its boundary modes, as plain data that host and device code share.
#pragma once

#include <tessera/types.h>
#include <tessera/plugin/host_device.hpp>

#include <cstdint>

namespace tessera::plugin {

/// Axes of every domain inside a backend: a domain of lower rank has leading axes of extent 1, so
/// axis 2 is always the one with the smallest stride.
inline constexpr int kAxes = 3;

/// What a tap finds at a point, after the boundary modes had their say.
struct Sample {
  bool constant;              ///< the value is `value`, no memory is read
  double value;               ///< rounded to the plan's type by the reader
  std::int64_t index[kAxes];  ///< otherwise: the point to read
};

/// Extents, boundary modes and the taps' reach. Trivially copyable: kernels take it by value.
struct Domain {
  std::int64_t extents[kAxes];
  std::int64_t reach[kAxes][2];  ///< how far taps leave a point downwards and upwards, both >= 0
  std::int32_t mode[kAxes][2];   ///< tessera_boundary of the low and the high side
  double value[kAxes][2];

  /// True for a point that keeps its value: a tap of it leaves the domain across a fixed side.
  TESSERA_HOST_DEVICE bool frozen(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    return frozen_on(0, i0) || frozen_on(1, i1) || frozen_on(2, i2);
  }

  TESSERA_HOST_DEVICE bool frozen_on(int axis, std::int64_t i) const {
    return (mode[axis][0] == TESSERA_BOUNDARY_FIXED && i < reach[axis][0]) ||
           (mode[axis][1] == TESSERA_BOUNDARY_FIXED && i >= extents[axis] - reach[axis][1]);
  }

  /// True where no tap of the point leaves the domain on this axis, or only into a halo.
  TESSERA_HOST_DEVICE bool plain_on(int axis, std::int64_t i) const {
    return (mode[axis][0] == TESSERA_BOUNDARY_HALO || i >= reach[axis][0]) &&
           (mode[axis][1] == TESSERA_BOUNDARY_HALO || i < extents[axis] - reach[axis][1]);
  }

  /// First point on the axis from which on plain_on() holds, and the first behind the last such.
  TESSERA_HOST_DEVICE std::int64_t plain_begin(int axis) const {
    const std::int64_t begin = mode[axis][0] == TESSERA_BOUNDARY_HALO ? 0 : reach[axis][0];
    return begin < extents[axis] ? begin : extents[axis];
  }
  TESSERA_HOST_DEVICE std::int64_t plain_end(int axis) const {
    const std::int64_t end = mode[axis][1] == TESSERA_BOUNDARY_HALO ? extents[axis] : extents[axis] - reach[axis][1];
    return end > plain_begin(axis) ? end : plain_begin(axis);
  }

  /// What is read at a point that may lie outside. Constant wins over the index maps, and among
  /// constant sides the first axis wins. Not for points of which frozen() holds.
  TESSERA_HOST_DEVICE Sample sample(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    Sample s{false, 0.0, {i0, i1, i2}};
    for (int axis = 0; axis < kAxes; ++axis) {
      const std::int64_t i = s.index[axis];
      const int side = i < 0 ? 0 : 1;
      if (i >= 0 && i < extents[axis]) continue;
      if (mode[axis][side] == TESSERA_BOUNDARY_CONSTANT) {
        s.constant = true;
        s.value = value[axis][side];
        return s;
      }
    }
    for (int axis = 0; axis < kAxes; ++axis) {
      const std::int64_t i = s.index[axis];
      if (i < 0 || i >= extents[axis]) s.index[axis] = mapped(axis, i);
    }
    return s;
  }

  /// The point of the axis that stands for a point outside; a halo point stands for itself.
  TESSERA_HOST_DEVICE std::int64_t mapped(int axis, std::int64_t i) const {
    return mapped(mode[axis][i < 0 ? 0 : 1], extents[axis], i);
  }

  /// The same on an axis of n points, for the mode of the side on which the point lies.
  TESSERA_HOST_DEVICE static std::int64_t mapped(std::int32_t side_mode, std::int64_t n, std::int64_t i) {
    switch (side_mode) {
      case TESSERA_BOUNDARY_PERIODIC:
        return modulo(i, n);
      case TESSERA_BOUNDARY_NEAREST:
        return i < 0 ? 0 : n - 1;
      case TESSERA_BOUNDARY_REFLECT: {
        const std::int64_t r = modulo(i, 2 * n);
        return r < n ? r : 2 * n - 1 - r;
      }
      case TESSERA_BOUNDARY_MIRROR: {
        if (n == 1) return 0;
        const std::int64_t r = modulo(i, 2 * (n - 1));
        return r < n ? r : 2 * (n - 1) - r;
      }
      default:
        return i;
    }
  }

 private:
  TESSERA_HOST_DEVICE static std::int64_t modulo(std::int64_t i, std::int64_t n) {
    if (i >= -n && i < 2 * n) return i < 0 ? i + n : i < n ? i : i - n;  // nearly always; GPUs divide slowly
    const std::int64_t r = i % n;
    return r < 0 ? r + n : r;
  }
};

}  // namespace tessera::plugin
