// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A matrix turned in memory, for products whose kernels are slower on it as it lies.
#pragma once

#include "gemm.cuh"

#include <cstdint>

namespace tessera::cuda {

inline constexpr int kTurnTile = 64, kTurnThreads = 256;

/// target[p * target_ld + j] = source[j * source_ld + p] for j < rows, p < depth.
template <class T>
struct TurnArguments {
  const T* source;
  std::int64_t source_ld, rows, depth;
  T* target;
  std::int64_t target_ld;
};

template <class T>
__global__ void __launch_bounds__(kTurnThreads) gemm_turn_kernel(const __grid_constant__ TurnArguments<T> x) {
  constexpr int kPasses = kTurnTile * kTurnTile / kTurnThreads, kStep = kTurnThreads / kTurnTile;
  __shared__ T tile[kTurnTile][kTurnTile + 1];
  const std::int64_t across = tiles_along(x.depth, kTurnTile);
  const std::int64_t row = blockIdx.x / across * kTurnTile, depth = blockIdx.x % across * kTurnTile;
  const int along = int(threadIdx.x) % kTurnTile, first = int(threadIdx.x) / kTurnTile;
  T value[kPasses];
#pragma unroll
  for (int s = 0; s < kPasses; ++s) {
    const std::int64_t j = row + first + s * kStep;
    if (j < x.rows && depth + along < x.depth) value[s] = x.source[j * x.source_ld + depth + along];
  }
#pragma unroll
  for (int s = 0; s < kPasses; ++s) tile[first + s * kStep][along] = value[s];
  __syncthreads();
#pragma unroll
  for (int s = 0; s < kPasses; ++s) {
    const int p = first + s * kStep;
    if (row + along < x.rows && depth + p < x.depth) x.target[(depth + p) * x.target_ld + row + along] = tile[along][p];
  }
}

template <class T>
void launch_turn(const TurnArguments<T>& x, cudaStream_t stream) {
  const std::int64_t blocks = tiles_along(x.rows, kTurnTile) * tiles_along(x.depth, kTurnTile);
  launch(gemm_turn_kernel<T>, dim3(unsigned(blocks)), dim3(kTurnThreads), 0, stream, x);
}

}  // namespace tessera::cuda
