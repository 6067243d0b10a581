// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One point near the boundary, for the algorithms that read the field from global memory.
#pragma once

#include "../context.hpp"
#include "../convert.cuh"
#include "geometry.hpp"

#include <cuda_runtime.h>

#include <vector>

namespace tessera::cuda {

/// A tap as points near the boundary need it. S: the type of coefficients.
template <class S>
struct GridTap {
  std::int64_t offset[plugin::kAxes];
  S coefficient;
};

/// A plan's taps in device memory.
template <class S>
struct GridTaps {
  const GridTap<S>* list;
  int count;
};

template <class S>
DeviceTable make_grid_taps(Context& context, const plugin::StencilProblem& problem) {
  std::vector<GridTap<S>> taps;
  for (const auto& tap : problem.taps)
    taps.push_back({{tap.offset[0], tap.offset[1], tap.offset[2]}, S(tap.coefficient)});
  return DeviceTable(context, taps.data(), taps.size() * sizeof taps[0]);
}

/// Writes a point some tap of which may leave the domain. Not inlined, since its registers would spill those of plain
/// points; nothing lives across the call.
template <class T>
__device__ __noinline__ void boundary_point(const SweepGeometry& geometry, const GridTaps<Scalar<T>>& taps,
                                            const T* source, T* target, std::int64_t i0, std::int64_t i1,
                                            std::int64_t i2) {
  using S = Scalar<T>;
  T result;
  if (geometry.domain.frozen(i0, i1, i2)) {
    result = source[geometry.source_index(i0, i1, i2)];
  } else {
    S sum = 0;
#pragma unroll 4
    for (int t = 0; t < taps.count; ++t) {
      const GridTap<S>& tap = taps.list[t];
      const plugin::Sample s = geometry.domain.sample(i0 + tap.offset[0], i1 + tap.offset[1], i2 + tap.offset[2]);
      const S value =
          s.constant ? S(s.value) : widened(source[geometry.source_index(s.index[0], s.index[1], s.index[2])]);
      sum = fma(tap.coefficient, value, sum);
    }
    result = rounded<T>(sum);
  }
  target[geometry.target_index(i0, i1, i2)] = result;
}

}  // namespace tessera::cuda
