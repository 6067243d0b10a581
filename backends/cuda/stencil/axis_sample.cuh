// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The boundary one axis at a time: kernels that read whole rows resolve each axis of a tile once, not each tap.
#pragma once

#include <tessera/plugin/boundary.hpp>

#include <cuda_runtime.h>

namespace tessera::cuda {

/// What a position on an axis stands for: a point, the constant of a side, or nothing (beyond a fixed side, or farther
/// than taps reach), which no point that is computed reads.
enum class Found : int { point, low_value, high_value, nothing };

struct AxisSample {
  Found found;
  std::int64_t index;
};

/// Out of line, since few positions need it.
static __device__ __noinline__ AxisSample sample_beyond(const plugin::Domain& domain, int axis, std::int64_t i) {
  const int side = i < 0 ? 0 : 1;
  const bool exists = i >= -domain.reach[axis][0] && i < domain.extents[axis] + domain.reach[axis][1];
  if (!exists || domain.mode[axis][side] == TESSERA_BOUNDARY_FIXED) return {Found::nothing, 0};
  if (domain.mode[axis][side] == TESSERA_BOUNDARY_CONSTANT)
    return {side == 0 ? Found::low_value : Found::high_value, 0};
  return {Found::point, domain.mapped(axis, i)};
}

__device__ __forceinline__ AxisSample sample_axis(const plugin::Domain& domain, int axis, std::int64_t i) {
  if (std::uint64_t(i) < std::uint64_t(domain.extents[axis])) return {Found::point, i};
  return sample_beyond(domain, axis, i);
}

template <class T>
__device__ __forceinline__ T axis_value(const plugin::Domain& domain, int axis, Found found) {
  return found == Found::nothing ? T(0) : T(domain.value[axis][found == Found::low_value ? 0 : 1]);
}

}  // namespace tessera::cuda
