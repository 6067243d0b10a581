// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The compiled kernels of the temporal algorithm.
#pragma once

#include "temporal.hpp"
#include "temporal_axis.hpp"

#include <type_traits>

namespace tessera::cuda {

/// A pass over a domain of two axes.
template <class T>
struct StripArguments {
  T coefficients[kTemporalSpan][kTemporalSpan];  ///< by offset on axes 1 and 2, the first 2 r + 1 of each
  TemporalAxis<T> rows, columns;
  RowEnds row_ends;
  StripCut cut;
  int strips, pieces, piece_rows;
  int depth;  ///< steps of the pass
  std::int64_t source_strides[2], target_strides[2];
  bool source_vectors, target_vectors;  ///< 16 bytes at a time are possible at multiples of kStripColumns
};

template <class T>
struct StripKernels {
  using Kernel = void (*)(StripArguments<T>, const T*, T*);
  Kernel deepest;  ///< for passes of temporal_depth() steps
  Kernel any;      ///< for passes of fewer
};

StripKernels<float> strip_kernels(std::type_identity<float>, const TemporalTaps& taps);    // temporal_strip_f32.cu
StripKernels<double> strip_kernels(std::type_identity<double>, const TemporalTaps& taps);  // temporal_strip_f64.cu

}  // namespace tessera::cuda
