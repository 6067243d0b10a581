// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What algorithms have in common that cut k into slices.
#pragma once

#include "../early_start.cuh"
#include "gemm.cuh"
#include "triangle_tiles.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

/// A product whose k is cut into slices: block number b of a launch computes slice b % slices of
/// tile b / slices.
template <class T>
struct SlicedArguments {
  GemmArguments<T> g;
  int slices;
  std::int64_t k_per_slice;  ///< of each but the last few
  /// Sums of the slices, for a second kernel that adds them: slices x batch x m rows of partial_ld. Null
  /// where the slices of a tile are a cluster's blocks and add them through shared memory.
  Scalar<T>* partial;
  std::int64_t partial_ld;
  int tiles_per_slice = 0;   ///< of k, where a block has all slices
  TriangleTiles triangle{};  ///< whose tiles are computed, where there is one
};

inline constexpr int kAddThreads = 256;

/// D from the sums of the slices. One thread an element; neighbours read neighbours. Threads along x are for columns,
/// along y for rows of all matrices. kPlain: see write_element(). mend(sum, matrix, row, column): what becomes of it.
template <bool kPlain, class T, class Mend>
__device__ __forceinline__ void add_slices(const SlicedArguments<T>& arguments, const Mend& mend) {
  using S = Scalar<T>;
  constexpr int kAhead = 8;  // reads under way
  const GemmArguments<T>& g = arguments.g;
  start_successor();
  wait_for_predecessor();  // which made the sums
  const std::int64_t rows = g.batch * g.m, slice_elements = rows * arguments.partial_ld;
  for (std::int64_t row = blockIdx.y * std::int64_t(blockDim.y) + threadIdx.y; row < rows;
       row += std::int64_t(gridDim.y) * blockDim.y) {
    const std::int64_t item = g.batch == 1 ? 0 : row / g.m;
    for (std::int64_t column = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x; column < g.n;
         column += std::int64_t(gridDim.x) * blockDim.x) {
      const S* p = arguments.partial + row * arguments.partial_ld + column;
      S sum = S(0);
      for (int slice = 0; slice < arguments.slices; slice += kAhead) {
        S part[kAhead];
#pragma unroll
        for (int s = 0; s < kAhead; ++s, p += slice_elements) part[s] = slice + s < arguments.slices ? *p : S(0);
#pragma unroll
        for (int s = 0; s < kAhead; ++s)
          if (slice + s < arguments.slices) sum += part[s];
      }
      write_element<kPlain>(g, item, row - item * g.m, column, mend(sum, item, row - item * g.m, column));
    }
  }
}

template <class T, bool kPlain>
__global__ void __launch_bounds__(kAddThreads)
    gemm_add_slices_kernel(const __grid_constant__ SlicedArguments<T> arguments) {
  add_slices<kPlain>(arguments, [](auto sum, std::int64_t, std::int64_t, std::int64_t) { return sum; });
}

/// Tells how to launch it.
template <class T>
EarlyStart prepare_add_slices() {
  prepare(gemm_add_slices_kernel<T, false>);
  prepare(gemm_add_slices_kernel<T, true>);
  return EarlyStart{can_start_early(gemm_add_slices_kernel<T, true>)};
}

/// Launches a kernel that adds the slices of `g`.
template <class T, class Arguments>
void launch_add_slices(void (*kernel)(Arguments), const GemmArguments<T>& g, const Arguments& x, cudaStream_t stream,
                       EarlyStart start) {
  int along = 4;  // threads for columns
  while (along < kAddThreads && along < g.n) along *= 2;
  const int rows = kAddThreads / along;
  const dim3 grid(unsigned(std::min(ceil_div(g.n, along), kMaxGridX)),
                  unsigned(std::min(ceil_div(g.batch * g.m, rows), kMaxGridYz)));
  launch(kernel, grid, dim3(unsigned(along), unsigned(rows)), 0, stream, start, x);
}

template <class T>
void launch_add_slices(const SlicedArguments<T>& x, cudaStream_t stream, EarlyStart start) {
  launch_add_slices(x.g.plain() ? gemm_add_slices_kernel<T, true> : gemm_add_slices_kernel<T, false>, x.g, x, stream,
                    start);
}

}  // namespace tessera::cuda
