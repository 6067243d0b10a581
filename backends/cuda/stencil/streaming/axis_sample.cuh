// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The boundary one axis at a time: kernels that read whole rows resolve each axis of a tile once, instead of each tap.
#pragma once

#include <tessera/plugin/boundary.hpp>

#include <cuda_runtime.h>

namespace tessera::cuda {

/// What is read at a position on an axis: a point, the constant of a side, or nothing. Nothing lies beyond a fixed side
/// and farther than taps reach; no point that is computed reads it.
enum class SampleKind : int { point, low_value, high_value, nothing };

struct AxisSample {
  SampleKind kind;
  std::int64_t index;
};

/// Out of line, since few positions need it. By value, since kernel parameters lie in the constant bank and a reference
/// would turn them into loads from memory. `reach` and `mode`: of the side on which i lies.
static __device__ __noinline__ AxisSample sample_beyond(std::int64_t i, std::int64_t extent, std::int64_t reach,
                                                        std::int32_t mode) {
  const bool exists = i >= -reach && i < extent + reach;
  if (!exists || mode == TESSERA_BOUNDARY_FIXED) return {SampleKind::nothing, 0};
  if (mode == TESSERA_BOUNDARY_CONSTANT) return {i < 0 ? SampleKind::low_value : SampleKind::high_value, 0};
  return {SampleKind::point, plugin::Domain::mapped(mode, extent, i)};
}

__device__ __forceinline__ AxisSample sample_axis(const plugin::Domain& domain, int axis, std::int64_t i) {
  const std::int64_t extent = domain.extents[axis];
  if (std::uint64_t(i) < std::uint64_t(extent)) return {SampleKind::point, i};
  if (i < 0) return sample_beyond(i, extent, domain.reach[axis][0], domain.mode[axis][0]);
  return sample_beyond(i, extent, domain.reach[axis][1], domain.mode[axis][1]);
}

template <class T>
__device__ __forceinline__ T axis_value(const plugin::Domain& domain, int axis, SampleKind kind) {
  return kind == SampleKind::nothing ? T(0) : T(domain.value[axis][kind == SampleKind::low_value ? 0 : 1]);
}

/// Which of kWidth points from i2 on keep their values for their place in the row, which has less than 2^31 points.
template <int kWidth>
__device__ __forceinline__ unsigned frozen_points(const plugin::Domain& domain, int i2) {
  const auto first = [](int count) { return (1u << min(max(count, 0), kWidth)) - 1; };
  const int extent = int(domain.extents[2]);
  const unsigned low = domain.mode[2][0] == TESSERA_BOUNDARY_FIXED ? first(int(domain.reach[2][0]) - i2) : 0;
  const unsigned high = domain.mode[2][1] == TESSERA_BOUNDARY_FIXED ? ~first(extent - int(domain.reach[2][1]) - i2) : 0;
  return low | (high & ((1u << kWidth) - 1));
}

}  // namespace tessera::cuda
