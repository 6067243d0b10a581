// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One thread computes one element of C from global memory, as the first matrix product of the CUDA
/// C++ Programming Guide (section "Shared Memory") does. The yardstick, and the answer for shapes
/// that nothing else takes.
#include "gemm.cuh"
#include "offers.hpp"

namespace tessera::cuda {
namespace {

constexpr int kTile = 16;

template <class T, bool kTransA, bool kTransB, bool kPlain>
__global__ void __launch_bounds__(kTile* kTile) gemm_naive_kernel(const __grid_constant__ GemmArguments<T> g) {
  const std::int64_t tiles = tile_count(g, kTile);
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const GemmTile tile = tile_at(g, kTile, number);
    const std::int64_t row = tile.row + threadIdx.y, column = tile.column + threadIdx.x;
    if (row >= g.m || column >= g.n) continue;

    const std::int64_t a_step = kTransA ? g.lda : 1, b_step = kTransB ? 1 : g.ldb;
    const T* a = g.a + tile.batch * g.stride_a + row * (kTransA ? 1 : g.lda);
    const T* b = g.b + tile.batch * g.stride_b + column * (kTransB ? g.ldb : 1);
    Scalar<T> sum = 0;
#pragma unroll 4
    for (std::int64_t p = 0; p < g.k; ++p, a += a_step, b += b_step) sum = fma(widened(*a), widened(*b), sum);
    write_element<kPlain>(g, tile.batch, row, column, sum);
  }
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem, const plugin::Parameters&) {
  return with_type_and_transposes(problem, [&](auto tag, auto trans_a, auto trans_b) -> std::unique_ptr<plugin::Plan> {
    using T = typename decltype(tag)::type;
    const std::array kernels{gemm_naive_kernel<T, trans_a.value, trans_b.value, false>,
                             gemm_naive_kernel<T, trans_a.value, trans_b.value, true>};
    return std::make_unique<GemmPlan<T>>(context, problem, kernels, kTile, dim3(kTile, kTile));
  });
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"naive", plugin::supports_all, naive_offers, make, {.narrow = true, .epilogue = true, .aux = true}}, 5};

}  // namespace

}  // namespace tessera::cuda
