// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A matrix of 16-bit elements copied to rows that begin at multiples of 16 bytes.
#pragma once

#include "gemm.cuh"

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

inline constexpr int kAlignedCopyThreads = 256;

/// target[r * target_ld + c] = source[r * source_ld + c] for r < rows, c < columns; zeros up to the next multiple of
/// eight columns.
template <class T>
struct AlignedCopyArguments {
  const T* source;
  std::int64_t source_ld, rows, columns;
  T* target;
  std::int64_t target_ld;
};

/// A thread makes eight neighbours at a time, from single reads: lines come once, and stay in the first-level cache.
template <class T>
__global__ void __launch_bounds__(kAlignedCopyThreads)
    gemm_aligned_copy_kernel(const __grid_constant__ AlignedCopyArguments<T> x) {
  constexpr int kWidth = 8;
  const std::int64_t across = ceil_div(x.columns, kWidth), pieces = x.rows * across;
  for (std::int64_t i = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x; i < pieces;
       i += std::int64_t(gridDim.x) * blockDim.x) {
    const std::int64_t row = i / across, column = i % across * kWidth;
    const T* const from = x.source + row * x.source_ld + column;
    const int count = int(x.columns - column < kWidth ? x.columns - column : kWidth);
    Vector<T, kWidth> values{};
#pragma unroll
    for (int e = 0; e < kWidth; ++e)
      if (e < count) values.value[e] = from[e];
    *reinterpret_cast<Vector<T, kWidth>*>(x.target + row * x.target_ld + column) = values;
  }
}

template <class T>
void launch_aligned_copy(const AlignedCopyArguments<T>& x, cudaStream_t stream) {
  const std::int64_t blocks = ceil_div(x.rows * ceil_div(x.columns, 8), kAlignedCopyThreads);
  launch(gemm_aligned_copy_kernel<T>, dim3(unsigned(std::min(blocks, kMaxGridX))), dim3(kAlignedCopyThreads), 0, stream,
         x);
}

}  // namespace tessera::cuda
