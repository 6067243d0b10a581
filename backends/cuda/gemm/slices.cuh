// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What algorithms have in common that cut k into slices.
#pragma once

#include "gemm.cuh"

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

/// A product whose k is cut into slices: block number b of a launch computes slice b % slices of
/// tile b / slices.
template <class T>
struct SlicedArguments {
  GemmArguments<T> g;
  int slices;
  std::int64_t k_per_slice;  ///< what each but the last few has
  /// Sums of the slices, for a second kernel that adds them: slices x batch x m rows of partial_ld. Null
  /// where the slices of a tile are a cluster's blocks and add them through shared memory.
  Scalar<T>* partial;
  std::int64_t partial_ld;
};

inline constexpr int kAddThreads = 256;

/// D from the sums of the slices. One thread an element; neighbours read neighbours. kPlain: see write_element().
template <class T, bool kPlain>
__global__ void __launch_bounds__(kAddThreads)
    gemm_add_slices_kernel(const __grid_constant__ SlicedArguments<T> arguments) {
  using S = Scalar<T>;
  constexpr int kAhead = 8;  // reads under way
  const GemmArguments<T>& g = arguments.g;
  const std::int64_t elements = g.batch * g.m * g.n, slice_elements = g.batch * g.m * arguments.partial_ld;
  for (std::int64_t i = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x; i < elements;
       i += std::int64_t(gridDim.x) * blockDim.x) {
    const std::int64_t row = i / g.n, column = i % g.n;  // row: of all matrices
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
    write_element<kPlain>(g, row / g.m, row % g.m, column, sum);
  }
}

template <class T>
void prepare_add_slices() {
  prepare(gemm_add_slices_kernel<T, false>);
  prepare(gemm_add_slices_kernel<T, true>);
}

template <class T>
void launch_add_slices(const SlicedArguments<T>& x, cudaStream_t stream) {
  const auto kernel = x.g.plain() ? gemm_add_slices_kernel<T, true> : gemm_add_slices_kernel<T, false>;
  const std::int64_t blocks = std::min(ceil_div(x.g.batch * x.g.m * x.g.n, kAddThreads), kMaxGridX);
  launch(kernel, dim3(unsigned(blocks)), dim3(kAddThreads), 0, stream, x);
}

}  // namespace tessera::cuda
