// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The compiled kernels of the resident algorithm.
#pragma once

#include "persistent.hpp"
#include "../temporal/temporal_axis.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// All steps of a domain.
template <class T>
struct ResidentArguments {
  T coefficients[kTemporalSpan][kTemporalSpan];  ///< by offset + radius
  TemporalAxis<T> rows, columns;
  ResidentCut row_cut, column_cut;
  int depth;              ///< steps of a round
  int rounds, shallower;  ///< the last so many rounds have a step less
  std::int64_t in_strides[2], out_strides[2];
};

inline constexpr int kResidentFlagStride = 32;  ///< 32-bit words from a block's flag to the next one's

template <class T>
struct ResidentKernel {
  using Function = void (*)(ResidentArguments<T>, const T* in, T* out, T* exchange, std::uint32_t* flags);
  Function function;
  int warp_bytes;  ///< dynamic shared memory for each warp of a block
};

/// `rows` of resident_rows(). In resident_f32.cu and resident_f64.cu.
ResidentKernel<float> resident_kernel(std::type_identity<float>, const TemporalTaps& taps, int rows);
ResidentKernel<double> resident_kernel(std::type_identity<double>, const TemporalTaps& taps, int rows);

}  // namespace tessera::cuda
