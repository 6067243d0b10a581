// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A product whose elements of C a warp computes one after the other, its lanes on k. As backends/cuda/gemm/rowwise.cu
/// this file is all that it takes: docs/adding-an-algorithm.md.

#include "gemm.cuh"
#include "tile_model.hpp"

namespace tessera::cuda {
namespace {

constexpr int kTile = 8, kLanes = 32;

template <class T, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(kTile* kLanes) gemm_rowwise_kernel(const __grid_constant__ GemmArguments<T> g) {
  const std::int64_t tiles = tile_count(g, kTile);
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const GemmTile tile = tile_at(g, kTile, number);
    const std::int64_t row = tile.row + threadIdx.y;
    if (row >= g.m) continue;  // the whole warp

    const std::int64_t a_step = kTransA ? g.lda : 1, b_step = kTransB ? 1 : g.ldb;
    const T* a = g.a + tile.batch * g.stride_a + row * (kTransA ? 1 : g.lda);
    for (std::int64_t column = tile.column; column < g.n && column < tile.column + kTile; ++column) {
      const T* b = g.b + tile.batch * g.stride_b + column * (kTransB ? g.ldb : 1);
      Scalar<T> sum = 0;  // f32 for elements of 16 bits
      for (std::int64_t p = threadIdx.x; p < g.k; p += kLanes)
        sum = fma(widened(a[p * a_step]), widened(b[p * b_step]), sum);
      for (int other = kLanes / 2; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffff, sum, other);
      if (threadIdx.x == 0) write_element<false>(g, tile.batch, row, column, sum);
    }
  }
}

void offers(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
            plugin::OfferList& list) {
  constexpr double kStepCycles = 20 * kTile;  // of a block's 32 elements of k: to be measured
  const TileLaunch launch{.blocks = double(ceil_div(p.m, kTile)) * double(ceil_div(p.n, kTile)) * double(p.batch),
                          .blocks_per_sm = 8,
                          .steps = double(ceil_div(p.k, kLanes)),
                          .units = kStepCycles,
                          .bytes = operand_bytes(p)};
  list.add({{}, launch_seconds(launch, machine)});
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem, const plugin::Parameters&) {
  return with_type_and_transposes(problem, [&](auto tag, auto trans_a, auto trans_b) -> std::unique_ptr<plugin::Plan> {
    using T = typename decltype(tag)::type;
    const auto kernel = gemm_rowwise_kernel<T, trans_a.value, trans_b.value>;  // also for plain arguments
    return std::make_unique<GemmPlan<T>>(context, problem, std::array{kernel, kernel}, kTile, dim3(kLanes, kTile));
  });
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"rowwise", plugin::supports_all, offers, make, {.narrow = true, .epilogue = true}}, 90};

}  // namespace
}  // namespace tessera::cuda
