// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A matrix transposed in memory, for products whose kernels are slower on it as it lies.
#pragma once

#include "../early_start.cuh"
#include "gemm.cuh"

#include <cstdint>

namespace tessera::cuda {

inline constexpr int kTransposeTile = 64, kTransposeThreads = 256;

/// target[p * target_ld + j] = source[j * source_ld + p] for j < rows, p < columns.
template <class T>
struct TransposeArguments {
  const T* source;
  std::int64_t source_ld, rows, columns;
  T* target;
  std::int64_t target_ld;
};

template <class T>
__global__ void __launch_bounds__(kTransposeThreads)
    gemm_transpose_kernel(const __grid_constant__ TransposeArguments<T> x) {
  constexpr int kPasses = kTransposeTile * kTransposeTile / kTransposeThreads;
  constexpr int kStep = kTransposeThreads / kTransposeTile;
  __shared__ T tile[kTransposeTile][kTransposeTile + 1];
  start_successor();
  wait_for_predecessor();  // which may have made the source, or read the target
  const std::int64_t across = ceil_div(x.columns, kTransposeTile);
  const std::int64_t row = blockIdx.x / across * kTransposeTile, column = blockIdx.x % across * kTransposeTile;
  const int along = int(threadIdx.x) % kTransposeTile, first = int(threadIdx.x) / kTransposeTile;
  T value[kPasses];
#pragma unroll
  for (int s = 0; s < kPasses; ++s) {
    const std::int64_t j = row + first + s * kStep;
    if (j < x.rows && column + along < x.columns) value[s] = x.source[j * x.source_ld + column + along];
  }
#pragma unroll
  for (int s = 0; s < kPasses; ++s) tile[first + s * kStep][along] = value[s];
  __syncthreads();
#pragma unroll
  for (int s = 0; s < kPasses; ++s) {
    const int p = first + s * kStep;
    if (row + along < x.rows && column + p < x.columns)
      x.target[(column + p) * x.target_ld + row + along] = tile[along][p];
  }
}

template <class T>
void launch_transpose(const TransposeArguments<T>& x, cudaStream_t stream, EarlyStart start = {false}) {
  const std::int64_t blocks = ceil_div(x.rows, kTransposeTile) * ceil_div(x.columns, kTransposeTile);
  launch(gemm_transpose_kernel<T>, dim3(unsigned(blocks)), dim3(kTransposeThreads), 0, stream, start, x);
}

}  // namespace tessera::cuda
