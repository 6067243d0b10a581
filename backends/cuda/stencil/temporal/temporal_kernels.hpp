// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The compiled kernels of the temporal algorithm.
#pragma once

#include "../../context.hpp"
#include "temporal.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/plugin.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace tessera::cuda {

/// A pass. It sweeps along the outermost axis of the domain. In 2D there are no `rows`, and their strides are not used.
/// S: the type of values.
template <class S>
struct TemporalArguments {
  S coefficients[3][kTemporalSpan][kTemporalSpan];  ///< by offset + radius; in 2D the first plane of them
  TemporalAxis<S> sweep, rows, columns;
  SweepEnds ends;
  AxisTiling row_tiling, column_tiling;
  int column_tiles, row_tiles;
  int chunks, chunk;  ///< chunks of the sweep axis, and points of one
  int depth;          ///< steps of the pass
  std::int64_t source_strides[3], target_strides[3];
  bool source_vectors, target_vectors;  ///< accesses of LaneVector are possible at multiples of kLaneColumns
};

template <class T>
struct TemporalKernels {
  using Kernel = void (*)(TemporalArguments<Scalar<T>>, const T*, T*);
  Kernel deepest;  ///< for passes of the deepest kind
  Kernel any;      ///< for passes of fewer steps
  dim3 block;
  int shared_bytes;
};

/// 2D and 3D: each is instantiated for its type in a file of its own (instances.cmake).
template <class T>
TemporalKernels<T> tile15d_kernels(const TemporalTaps& taps);
template <class T>
TemporalKernels<T> tile25d_kernels(const TemporalTaps& taps);

/// 1D: temporal_line.cu.
std::unique_ptr<plugin::Plan> make_temporal_line(Context& context, const plugin::StencilProblem& problem, int depth);

}  // namespace tessera::cuda
