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
__device__ __forceinline__ void write_points(const DenseArguments<T>& g, const DenseBlock& b, const T* source,
                                             T* target, Scalar<T>* shared, const Sums& sums) {
  using S = Scalar<T>;
  constexpr int kColumns = Points::kColumns, kWidth = Points::kWidth, kSpan = Points::kWarpSpan;
  constexpr int kPart = kSpan % 32 == 0 ? 32 : 16;  // of which so many are written together,
  constexpr int kParts = kSpan / kPart;             // so many times
  constexpr int kTogether = 32 / kPart;             // of so many rows
  static_assert(kSpan % kPart == 0);
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int own_row = lane / kPart, own_column = lane % kPart;
  S* const own = shared + warp * 32 * kColumns;
  const SweepGeometry& geometry = g.geometry;
  const bool line = Points::kRows == 1;
  const std::int64_t i1 = b.at[1] + (line ? 0 : warp * (32 / Points::kAcross) * Points::kDown),
                     i2 = b.at[2] + (line ? warp * kSpan : 0);
  const std::int64_t stride = geometry.target_strides[1], deep = Points::kAxis == 0 ? geometry.target_strides[0] : 0;
  T* const to = target + geometry.target_index(b.at[0], i1 + own_row * Points::kDown, i2 + own_column);
  const T* const from = source + geometry.source_index(b.at[0], i1 + own_row * Points::kDown, i2 + own_column);
  const AxisParts rows(geometry.domain, 1, i1 + own_row * Points::kDown), columns(geometry.domain, 2, i2 + own_column);
#pragma unroll
  for (int r = 0; r < Points::kRows; ++r) {
    const int plane = Points::kAxis == 0 ? r : 0, row_of_thread = Points::kAxis == 0 ? 0 : r;
    const bool exists = b.at[0] + plane < geometry.domain.extents[0];
    const bool frozen = geometry.domain.frozen_on(0, b.at[0] + plane);
#pragma unroll
    for (int v = 0; v < kColumns; v += kWidth) {
      Vector<S, kWidth> part;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) part.value[i] = sums.sum[r][v + i];
      *reinterpret_cast<Vector<S, kWidth>*>(own + lane * kColumns + v) = part;
    }
    __syncwarp();
    const auto write = [&](auto all) {
#pragma unroll
      for (int p = 0; p < kColumns; ++p) {
        const int row = p / kParts * kTogether, column = p % kParts * kPart;
        const int down = row * Points::kDown + row_of_thread;
        const S value = own[(row + own_row) * kSpan + column + own_column];
        T* const at = to + plane * deep + down * stride + column;
        if constexpr (decltype(all)::value)
          *at = rounded<T>(value);
        else if (exists && rows.exists(down) && columns.exists(column))
          *at = b.keeps && (frozen || !rows.computed(down) || !columns.computed(column))
                    ? load_read_only(from + plane * geometry.source_strides[0] + down * geometry.source_strides[1] +
                                     column)
                    : rounded<T>(value);
      }
    };
    if (b.inside && !b.keeps)
      write(std::true_type());
    else
      write(std::false_type());
    __syncwarp();
  }
}

template <class T, class Points, DenseRow kRow>
using DenseSumsOf = std::conditional_t<Points::kRows == 1, DenseLineSums<T, Points>, DenseSums<T, Points, kRow>>;

template <class Points, DenseRow kRow, class T>
__global__ void __launch_bounds__(kDenseThreads, Points::kRows == 1 ? 6 : 4)
    stencil_dense_kernel(const __grid_constant__ DenseArguments<T> g, const T* __restrict__ source,
                         T* __restrict__ target) {
  using S = Scalar<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  wait_for_predecessor();
  start_successor();
  const DenseLayout& l = g.layout;
  const DenseBlock b = dense_block(l);
  const std::uint32_t barriers = shared_address(memory), all_taps = barriers + kDenseBarrierBytes;
  const int lane = int(threadIdx.x) % Points::kLanes, row = int(threadIdx.x) / Points::kLanes * Points::kDown;
  const std::uint32_t own =
      std::uint32_t(row * l.pitch + l.before + lane * Points::kColumns) * std::uint32_t(sizeof(T));
  const std::uint32_t first_at = all_taps + std::uint32_t(l.tap_bytes), pitch = std::uint32_t(l.pitch) * sizeof(T);
  if (Points::kAxis == 0) copy_taps(all_taps, g.taps, l.taps[0] * l.taps[1] * l.vectors);
#if __CUDA_ARCH__ >= 900
  if (Points::kBulk) {
    if (threadIdx.x == 0) {
      barrier_init(barriers, blockDim.x / 32), barrier_init(barriers + 8, blockDim.x / 32);
      barriers_ready();
    }
    __syncthreads();
  }
#endif
  DenseSumsOf<T, Points, kRow> sums{l};
  DenseStage stage{-1, 0}, next{0, 0};  // that is computed, and that comes meanwhile
#pragma unroll 1
  for (int i = -1; true; ++i) {
    const int slot = i & (l.buffers - 1), next_slot = (i + 1) & (l.buffers - 1);
    const bool comes = next.plane < l.planes();
    if (comes)
      copy_stage<Points>(g, b, next, source, first_at + std::uint32_t(next_slot * l.stage_bytes),
                         barriers + next_slot * 8);
    if (i >= 0) {
      if (comes)
        cp_async_wait<1>();
      else
        cp_async_wait<0>();
#if __CUDA_ARCH__ >= 900
      if (dense_in_bulk<Points, T>(g)) barrier_wait(barriers + slot * 8, unsigned(i) / 2 % 2);
#endif
      __syncthreads();
      const std::uint32_t at = first_at + std::uint32_t(slot * l.stage_bytes);
      if constexpr (Points::kRows == 1)
        sums.add(at + own, at + std::uint32_t(l.cell_bytes));
      else if constexpr (Points::kAxis == 0)
        sums.add_plane(stage.plane, at + own, all_taps, pitch);
      else
        sums.add_rows(at + own, at + std::uint32_t(l.cell_bytes), pitch, min(l.stage_rows, l.taps[1] - stage.row));
      __syncthreads();
    }
    if (!comes) break;
    stage = next, next.row += l.stage_rows;
    if (next.row >= l.taps[1]) next = {stage.plane + 1, 0};
  }
  write_points<Points>(g, b, source, target, reinterpret_cast<S*>(memory + kDenseBarrierBytes), sums);
}

/// Rows of the box in whole vectors, in the order of the offsets.
template <class Points>
std::vector<typename Points::Value> dense_taps(const plugin::StencilProblem& problem, const DenseLayout& l) {
  using S = typename Points::Value;
  const std::size_t pitch = std::size_t(l.vectors) * Points::kWidth;
  std::vector<S> taps(std::size_t(l.taps[0]) * std::size_t(l.taps[1]) * pitch);
  for (const plugin::Tap& tap : problem.taps) {
    const auto place = [&](std::size_t axis) { return std::size_t(tap.offset[axis] - l.first[axis]); };
    const std::size_t column = place(2) - std::size_t(l.before);
    taps[(place(0) * std::size_t(l.taps[1]) + place(1)) * pitch + column] = S(tap.coefficient);
  }
  return taps;
}

template <class Points, DenseRow kRow, class T>
using DensePlan = BoxPlan<&stencil_dense_kernel<Points, kRow, T>, T, DenseLayout>;

template <class Points, class T>
std::unique_ptr<plugin::Plan> make_dense_of(Context& context, const plugin::StencilProblem& problem,
                                            const DenseLayout& layout) {
  const std::vector<Scalar<T>> taps = dense_taps<Points>(problem, layout);
  const auto make = [&]<DenseRow kRow>() -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<DensePlan<Points, kRow, T>>(context, problem, layout, layout.threads, taps);
  };
  if constexpr (Points::kRows > 1) {
    if (layout.row == DenseRow::kPartFirst) return make.template operator()<DenseRow::kPartFirst>();
    if (layout.row == DenseRow::kOneMore) return make.template operator()<DenseRow::kOneMore>();
  }
  return make.template operator()<DenseRow::kAny>();
}

}  // namespace

template <class T>
std::unique_ptr<plugin::Plan> make_dense(Context& context, const plugin::StencilProblem& problem, int threads) {
  const DenseLayout layout = dense_layout(problem, context.machine(), threads).value();
  using S = Scalar<T>;
  if (problem.rank == 1) return make_dense_of<DenseLine<S>, T>(context, problem, layout);
  return layout.depth > 1 ? make_dense_of<DensePlanes<S>, T>(context, problem, layout)
                          : make_dense_of<DenseRows<S>, T>(context, problem, layout);
}

}  // namespace tessera::cuda
