// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What every stencil kernel gets beside its taps.
#pragma once

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cuda {

/// The domain and the strides of one sweep. Kernels take it by value.
struct SweepGeometry {
  plugin::Domain domain;
  std::int64_t source_strides[plugin::kAxes];
  std::int64_t target_strides[plugin::kAxes];
  std::int64_t plain[plugin::kAxes][2];  ///< the box of points no tap of which leaves the domain

  SweepGeometry() = default;
  explicit SweepGeometry(const plugin::StencilProblem& problem) : domain(problem.domain) {
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      plain[axis][0] = domain.plain_begin(axis);
      plain[axis][1] = domain.plain_end(axis);
    }
  }

  void set_strides(const plugin::Index3& source, const plugin::Index3& target) {
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      source_strides[axis] = source[std::size_t(axis)];
      target_strides[axis] = target[std::size_t(axis)];
    }
  }

#ifdef __CUDACC__
  __device__ std::int64_t source_index(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    return i0 * source_strides[0] + i1 * source_strides[1] + i2 * source_strides[2];
  }
  __device__ std::int64_t target_index(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    return i0 * target_strides[0] + i1 * target_strides[1] + i2 * target_strides[2];
  }
#endif
};

/// Distance in elements that a tap reaches in an array of those strides.
inline std::int64_t linear_offset(const plugin::Tap& tap, const plugin::Index3& strides) {
  return tap.offset[0] * strides[0] + tap.offset[1] * strides[1] + tap.offset[2] * strides[2];
}

}  // namespace tessera::cuda
