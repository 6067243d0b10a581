// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One point near the boundary, for the algorithms that read the field from global memory.
#pragma once

#include "../context.hpp"
#include "geometry.hpp"

#include <cuda_runtime.h>

#include <vector>

namespace tessera::cuda {

/// A tap as points near the boundary need it.
template <class T>
struct GridTap {
  std::int64_t offset[plugin::kAxes];
  T coefficient;
};

/// A plan's taps in device memory.
template <class T>
struct GridTaps {
  const GridTap<T>* list;
  int count;
};

template <class T>
DeviceTable make_grid_taps(Context& context, const plugin::StencilProblem& problem) {
  std::vector<GridTap<T>> taps;
  for (const auto& tap : problem.taps)
    taps.push_back({{tap.offset[0], tap.offset[1], tap.offset[2]}, T(tap.coefficient)});
  return DeviceTable(context, taps.data(), taps.size() * sizeof taps[0]);
}

/// Writes a point some tap of which may leave the domain. Not inlined, since its registers would spill those of plain
/// points; nothing lives across the call.
template <class T>
__device__ __noinline__ void boundary_point(const SweepGeometry& geometry, const GridTaps<T>& taps, const T* source,
                                            T* target, std::int64_t i0, std::int64_t i1, std::int64_t i2) {
  T sum = 0;
  if (geometry.domain.frozen(i0, i1, i2)) {
    sum = source[geometry.source_index(i0, i1, i2)];
  } else {
#pragma unroll 4
    for (int t = 0; t < taps.count; ++t) {
      const GridTap<T>& tap = taps.list[t];
      const plugin::Sample s = geometry.domain.sample(i0 + tap.offset[0], i1 + tap.offset[1], i2 + tap.offset[2]);
      const T value = s.constant ? T(s.value) : source[geometry.source_index(s.index[0], s.index[1], s.index[2])];
      sum = fma(tap.coefficient, value, sum);
    }
  }
  target[geometry.target_index(i0, i1, i2)] = sum;
}

}  // namespace tessera::cuda
