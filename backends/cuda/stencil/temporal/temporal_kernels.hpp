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

/// A pass. It streams along the outermost axis of the domain; with two axes there are no `rows`, and their strides are
/// not used.
template <class T>
struct TemporalArguments {
  T coefficients[3][kTemporalSpan][kTemporalSpan];  ///< by offset + radius; with two axes the first plane of them
  TemporalAxis<T> stream, rows, columns;
  StreamEnds ends;
  StripCut row_cut, column_cut;
  int strips, tiles;  ///< pieces of the columns' and of the rows' axis
  int pieces, piece;  ///< pieces of the stream's axis, and points of one
  int depth;          ///< steps of the pass
  std::int64_t source_strides[3], target_strides[3];
  bool source_vectors, target_vectors;  ///< 16 bytes at a time are possible at multiples of kStripColumns
};

template <class T>
struct TemporalKernels {
  using Kernel = void (*)(TemporalArguments<T>, const T*, T*);
  Kernel deepest;  ///< for passes of the deepest kind
  Kernel any;      ///< for passes of fewer steps
  dim3 block;
  int shared_bytes;
};

TemporalKernels<float> strip_kernels(std::type_identity<float>, const TemporalTaps& taps);     // temporal_strip_f32.cu
TemporalKernels<double> strip_kernels(std::type_identity<double>, const TemporalTaps& taps);   // temporal_strip_f64.cu
TemporalKernels<float> pillar_kernels(std::type_identity<float>, const TemporalTaps& taps);    // temporal_pillar_f32.cu
TemporalKernels<double> pillar_kernels(std::type_identity<double>, const TemporalTaps& taps);  // temporal_pillar_f64.cu

/// For domains of one axis: temporal_line.cu.
std::unique_ptr<plugin::Plan> make_temporal_line(Context& context, const plugin::StencilProblem& problem, int depth);

}  // namespace tessera::cuda
