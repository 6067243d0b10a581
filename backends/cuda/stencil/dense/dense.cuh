// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of "dense": taps that fill a box, from registers. A thread has several rows of points. A vector of cells
/// that it loads from shared memory serves the taps of all its rows, and a vector of taps, which a whole warp loads as
/// one, all its columns.
#pragma once

#include "../../convert.cuh"
#include "../../early_start.cuh"
#include "dense_copy.cuh"
#include "dense_sums.cuh"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

/// Writes a thread's rows by way of shared memory, so that a warp writes neighbours.
template <class Points, class T, class Sums>
__device__ __forceinline__ void write_points(const DenseArguments<Scalar<T>>& g, const DenseBlock& b, const T* source,
                                             T* target, Scalar<T>* shared, const Sums& sums) {
  using S = Scalar<T>;
  constexpr int kColumns = Points::kColumns, kWidth = Points::kWidth, kSpan = Points::kWarpSpan;
  constexpr int kPart = kSpan % 32 == 0 ? 32 : 16;  // of which so many are written together,
  constexpr int kParts = kSpan / kPart;             // so many times
  constexpr int kTogether = 32 / kPart;             // of so many rows
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int own_row = lane / kPart, own_column = lane % kPart;
  S* const own = shared + warp * 32 * kColumns;
  const SweepGeometry& geometry = g.geometry;
  const bool line = Points::kRows == 1;
  const std::int64_t i1 = b.at[1] + (line ? 0 : warp * (32 / Points::kAcross) * Points::kRows),
                     i2 = b.at[2] + (line ? warp * kSpan : 0);
  const std::int64_t stride = geometry.target_strides[1];
  T* const to = target + geometry.target_index(b.at[0], i1 + own_row * Points::kRows, i2 + own_column);
  const T* const from = source + geometry.source_index(b.at[0], i1 + own_row * Points::kRows, i2 + own_column);
  const AxisParts rows(geometry.domain, 1, i1 + own_row * Points::kRows), columns(geometry.domain, 2, i2 + own_column);
  const bool frozen = geometry.domain.frozen_on(0, b.at[0]);
#pragma unroll
  for (int r = 0; r < Points::kRows; ++r) {
#pragma unroll
    for (int v = 0; v < kColumns; v += kWidth) {
      Vector<S, kWidth> part;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) part.value[i] = sums.sum[r][v + i];
      *reinterpret_cast<Vector<S, kWidth>*>(own + lane * kColumns + v) = part;
    }
    __syncwarp();
#pragma unroll
    for (int p = 0; p < kColumns; ++p) {
      const int row = p / kParts * kTogether, column = p % kParts * kPart, down = row * Points::kRows + r;
      const S value = own[(row + own_row) * kSpan + column + own_column];
      if (b.inside && !b.keeps)
        to[down * stride + column] = rounded<T>(value);
      else if (rows.exists(down) && columns.exists(column))
        to[down * stride + column] = frozen || !rows.computed(down) || !columns.computed(column)
                                         ? load_read_only(from + down * geometry.source_strides[1] + column)
                                         : rounded<T>(value);
    }
    __syncwarp();
  }
}

template <class Points, int kLast, class T>
__global__ void __launch_bounds__(kDenseThreads, Points::kRows == 1 ? 6 : 4)
    stencil_dense_kernel(const __grid_constant__ DenseArguments<Scalar<T>> g, const T* __restrict__ source,
                         T* __restrict__ target) {
  using S = Scalar<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  wait_for_predecessor();
  start_successor();
  const DenseLayout& l = g.layout;
  const DenseBlock b = dense_block(l);
  const std::uint32_t shared = shared_address(memory);
  const int lane = int(threadIdx.x) % Points::kLanes, row = int(threadIdx.x) / Points::kLanes * Points::kRows;
  const std::uint32_t own = std::uint32_t(row * l.pitch + lane * Points::kColumns) * std::uint32_t(sizeof(S));
  DenseSums<Points, kLast> sums;
  std::uint32_t at = shared, next_at = shared + std::uint32_t((l.buffers - 1) * l.stage_bytes);
  DenseStage stage{-1, 0}, next{0, 0};  // that is computed, and that comes meanwhile
#pragma unroll 1
  while (true) {
    const bool comes = next.plane < l.taps[0];
    if (comes) copy_stage<Points>(g, b, next, source, next_at);
    if (stage.plane >= 0) {
      if (comes)
        cp_async_wait<1>();
      else
        cp_async_wait<0>();
      __syncthreads();
      sums.add_stage(at + own, at + std::uint32_t(l.cell_bytes), std::uint32_t(l.pitch) * std::uint32_t(sizeof(S)),
                     min(l.stage_rows, l.taps[1] - stage.row), l.groups);
      __syncthreads();
    }
    if (!comes) break;
    stage = next, next.row += l.stage_rows;
    if (next.row >= l.taps[1]) next = {stage.plane + 1, 0};
    const std::uint32_t last_at = at;
    at = next_at, next_at = last_at;
  }
  write_points<Points>(g, b, source, target, reinterpret_cast<S*>(memory), sums);
}

/// Rows of the box in whole vectors, in the order of the offsets.
template <class Points>
std::vector<typename Points::Value> dense_taps(const plugin::StencilProblem& problem, const DenseLayout& l) {
  using S = typename Points::Value;
  const std::size_t pitch = std::size_t(l.groups) * Points::kWidth;
  std::vector<S> taps(std::size_t(l.taps[0]) * std::size_t(l.taps[1]) * pitch);
  for (const plugin::Tap& tap : problem.taps) {
    const auto place = [&](std::size_t axis) { return std::size_t(tap.offset[axis] - l.first[axis]); };
    taps[(place(0) * std::size_t(l.taps[1]) + place(1)) * pitch + place(2)] = S(tap.coefficient);
  }
  return taps;
}

template <class Points, int kLast, class T>
using DensePlan = BoxPlan<&stencil_dense_kernel<Points, kLast, T>, T, DenseLayout>;

template <class Points, class T>
std::unique_ptr<plugin::Plan> make_dense_of(Context& context, const plugin::StencilProblem& problem,
                                            const DenseLayout& layout) {
  std::unique_ptr<plugin::Plan> plan;
  const int last = (layout.taps[2] - 1) % Points::kWidth + 1;
  const std::vector<Scalar<T>> taps = dense_taps<Points>(problem, layout);
  const auto make = [&]<int... kBefore>(std::integer_sequence<int, kBefore...>) {
    ((last == kBefore + 1 ? void(plan = std::make_unique<DensePlan<Points, kBefore + 1, T>>(context, problem, layout,
                                                                                            layout.threads, taps))
                          : void()),
     ...);
  };
  make(std::make_integer_sequence<int, Points::kWidth>());
  return plan;
}

}  // namespace

template <class T>
std::unique_ptr<plugin::Plan> make_dense(Context& context, const plugin::StencilProblem& problem, int threads) {
  const DenseLayout layout = dense_layout(problem, context.machine(), threads).value();
  return problem.rank == 1 ? make_dense_of<DenseLine<Scalar<T>>, T>(context, problem, layout)
                           : make_dense_of<DenseRows<Scalar<T>>, T>(context, problem, layout);
}

}  // namespace tessera::cuda
