// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of "separable": sums along rows, then of these along columns, and in volumes along axis 0, in one kernel.
/// A block marches, so that each sum is made once but at a block's ends.
#pragma once

#include "../box_plan.cuh"
#include "separable.hpp"
#include "tap_line.cuh"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::cuda {
namespace {

/// The taps are the factors of axes 2, 1 and 0, each in whole vectors.
template <class S>
using SeparableArguments = BoxArguments<S, SeparableLayout>;

/// A block: its first point, and where its parts of shared memory lie.
template <class S>
struct SeparableBlock {
  std::int64_t at[plugin::kAxes];
  bool whole_columns;  ///< the cells of a row are all in the domain
  std::uint32_t cells, sums, ring, taps[plugin::kAxes];

  __device__ __forceinline__ SeparableBlock(const SeparableLayout& l, const plugin::Domain& d, std::uint32_t shared) {
    using Points = SeparablePoints<S>;
    at[0] = std::int64_t(blockIdx.z) * (l.march == 0 ? l.segment : 1);
    at[1] = std::int64_t(blockIdx.y) * (l.march == 1 ? l.segment * kSeparableRows : kSeparableRows);
    at[2] = std::int64_t(blockIdx.x) * Points::kSpan - l.early;
    whole_columns = at[2] + l.first[2] >= 0 && at[2] + l.first[2] + l.pitch <= d.extents[2];
    cells = shared, sums = cells + std::uint32_t(2 * l.cell_bytes), ring = sums + std::uint32_t(l.sum_bytes);
    std::uint32_t of_axis = ring + std::uint32_t(l.ring_bytes);
#pragma unroll
    for (int axis = plugin::kAxes - 1; axis >= 0; --axis)
      taps[axis] = of_axis, of_axis += std::uint32_t(plugin::ceil_div(l.taps[axis], Points::kWidth)) * 16;
  }
};

/// Starts to copy the cells of a stage.
template <class T>
__device__ __forceinline__ void copy_stage(const SeparableArguments<Scalar<T>>& g, const SeparableBlock<Scalar<T>>& b,
                                           int stage, const T* source) {
  const SeparableLayout& l = g.layout;
  const plugin::Domain& d = g.geometry.domain;
  const bool planes = l.march == 0;
  const BoxCells cells{{b.at[0] + l.first[0] + (planes ? stage : 0),
                        b.at[1] + l.first[1] + (planes ? 0 : stage * kSeparableRows), b.at[2] + l.first[2]},
                       l.rows,
                       l.pitch,
                       b.cells + std::uint32_t(stage % 2 * l.cell_bytes)};
  const bool whole = b.whole_columns && cells.first[1] >= 0 && cells.first[1] + l.rows <= d.extents[1] &&
                     cells.first[0] >= 0 && cells.first[0] < d.extents[0];
  copy_box<false>(cells, g, whole, source);
}

/// A column of points that a thread writes, so many at a time.
template <class T>
struct ColumnWriter {
  using S = Scalar<T>;
  static constexpr int kPoints = SeparablePoints<S>::kPoints;
  const SweepGeometry& geometry;
  const T* from;
  T* to;
  AxisParts rows;
  bool exists, computed;

  /// From (i0, i1, i2) on.
  __device__ __forceinline__ ColumnWriter(const SweepGeometry& g, const T* source, T* target, std::int64_t i0,
                                          std::int64_t i1, std::int64_t i2)
      : geometry(g),
        from(source + g.source_index(i0, i1, i2)),
        to(target + g.target_index(i0, i1, i2)),
        rows(g.domain, 1, i1) {
    const AxisParts columns(g.domain, 2, i2);
    exists = columns.exists(0), computed = columns.computed(0);
  }

  /// The sums of points `plane` planes and `row` rows away.
  __device__ __forceinline__ void write(const S (&sum)[kPoints], int plane, int row, bool plane_computed) const {
    if (!exists) return;
    const std::int64_t stride = geometry.target_strides[1];
    T* const first = to + plane * geometry.target_strides[0] + row * stride;
    const bool sums = computed && plane_computed;
    if (sums && rows.first <= row && rows.end >= row + kPoints) {
#pragma unroll
      for (int p = 0; p < kPoints; ++p) first[p * stride] = rounded<T>(sum[p]);
      return;
    }
    write_some(sum, first, from + plane * geometry.source_strides[0] + row * geometry.source_strides[1], row, sums);
  }

 private:
  /// Some of which do not exist, or keep their values.
  __device__ __forceinline__ void write_some(const S (&sum)[kPoints], T* first, const T* kept, int row,
                                             bool sums) const {
#pragma unroll
    for (int p = 0; p < kPoints; ++p)
      if (rows.exists(row + p))
        first[p * geometry.target_strides[1]] =
            sums && rows.computed(row + p) ? rounded<T>(sum[p]) : load_read_only(kept + p * geometry.source_strides[1]);
  }
};

/// Adds what comes from the planes before, and keeps this plane's sums: false if planes are still missing.
template <class S>
__device__ __forceinline__ bool add_planes(const SeparableLayout& l, const SeparableBlock<S>& b, int stage,
                                           S (&sum)[SeparablePoints<S>::kPoints]) {
  using Points = SeparablePoints<S>;
  constexpr std::uint32_t kPlane = kSeparableThreads * Points::kVectors * 16;
  const std::uint32_t own = b.ring + threadIdx.x * (Points::kVectors * 16);
  const int planes = l.taps[0], slot = stage % planes;
#pragma unroll
  for (int v = 0; v < Points::kVectors; ++v)
    store_shared_vector(own + std::uint32_t(slot) * kPlane + v * 16, sum + v * Points::kWidth);
  if (stage < l.lag) return false;
#pragma unroll
  for (S& value : sum) value = 0;
  std::uint32_t at = own + std::uint32_t(slot + 1 == planes ? 0 : slot + 1) * kPlane;
  const std::uint32_t end = own + std::uint32_t(planes) * kPlane;
#pragma unroll 1
  for (int t = 0; t < planes; ++t) {
    S value[Points::kPoints];
#pragma unroll
    for (int v = 0; v < Points::kVectors; ++v) load_shared(at + v * 16, value + v * Points::kWidth);
    const S tap = load_shared_value<S>(b.taps[0] + std::uint32_t(t) * std::uint32_t(sizeof(S)));
#pragma unroll
    for (int p = 0; p < Points::kPoints; ++p) sum[p] = fma(tap, value[p], sum[p]);
    at += kPlane;
    if (at == end) at = own;
  }
  return true;
}

template <bool kVolume, class T>
__global__ void __launch_bounds__(kSeparableThreads, 7)
    stencil_separable_kernel(const __grid_constant__ SeparableArguments<Scalar<T>> g, const T* __restrict__ source,
                             T* __restrict__ target) {
  using S = Scalar<T>;
  using Points = SeparablePoints<S>;
  constexpr int kPoints = Points::kPoints, kRows = kSeparableRows, kSpan = Points::kSpan;
  constexpr std::uint32_t kValue = sizeof(S), kRowBytes = kSpan * kValue, kStageBytes = kRows * kRowBytes;
  extern __shared__ __align__(16) unsigned char memory[];
  wait_for_predecessor();
  start_successor();
  const SeparableLayout& l = g.layout;
  const plugin::Domain& d = g.geometry.domain;
  const SeparableBlock<S> b(l, d, shared_address(memory));
  const int thread = int(threadIdx.x);
  const std::int64_t left = kVolume ? d.extents[0] - b.at[0] : plugin::ceil_div(d.extents[1] - b.at[1], kRows);
  const int stages = int(min(std::int64_t(l.segment), left)) + l.lag;
  for (int i = thread; i < l.groups; i += kSeparableThreads)
    cp_async<16>(b.taps[2] + std::uint32_t(i) * 16, g.taps + i * Points::kWidth, true);

  const int lane = thread % kSeparableLanes, column = thread % kSpan, down = thread / kSpan * kPoints;
  const ColumnWriter<T> writer(g.geometry, source, target, b.at[0], b.at[1] + down, b.at[2] + column);
  const bool plane_computed = !d.frozen_on(0, b.at[0]);
  const std::uint32_t sum_end = b.sums + std::uint32_t(l.sum_bytes);
  std::uint32_t newest = b.sums, oldest = b.sums;  // rows of sums along rows: of this stage, of the next points'
#pragma unroll 1
  for (int stage = -1; stage < stages; ++stage) {
    if (stage >= 0) {
      cp_async_wait<0>();
      __syncthreads();
    }
    if (stage + 1 < stages) copy_stage(g, b, stage + 1, source);
    cp_async_commit();
    if (stage < 0) continue;

    const std::uint32_t cells = b.cells + std::uint32_t(stage % 2 * l.cell_bytes);
#pragma unroll 1
    for (int row = thread / kSeparableLanes; row < l.rows; row += kRows) {
      S sum[kPoints] = {};
      std::uint32_t from = cells + std::uint32_t(row * l.pitch + lane * kPoints) * kValue;
      add_line(sum, b.taps[2], l.taps[2], [&](S* to) {
        load_shared(from, to);
        from += 16;
      });
      const std::uint32_t to = newest + std::uint32_t(row) * kRowBytes + std::uint32_t(lane * kPoints) * kValue;
#pragma unroll
      for (int v = 0; v < Points::kVectors; ++v) store_shared_vector(to + v * 16, sum + v * Points::kWidth);
    }
    if (!kVolume) newest = newest + kStageBytes == sum_end ? b.sums : newest + kStageBytes;
    __syncthreads();
    if (!kVolume && stage < l.lag) continue;

    S sum[kPoints] = {};
    std::uint32_t from = oldest + std::uint32_t(down) * kRowBytes + std::uint32_t(column) * kValue;
    add_line(sum, b.taps[1], l.taps[1], [&](S* to) {
#pragma unroll
      for (int i = 0; i < Points::kWidth; ++i) to[i] = load_shared_value<S>(from + i * kRowBytes);
      from += Points::kWidth * kRowBytes;
      if (!kVolume && from >= sum_end) from -= std::uint32_t(l.sum_bytes);
    });
    if (!kVolume) oldest = oldest + kStageBytes == sum_end ? b.sums : oldest + kStageBytes;
    if (kVolume && !add_planes(l, b, stage, sum)) continue;
    const int done = stage - l.lag;
    if (kVolume)
      writer.write(sum, done, 0, !d.frozen_on(0, b.at[0] + done));
    else
      writer.write(sum, 0, done * kRows, plane_computed);
  }
}

template <class S>
std::vector<S> separable_taps(const plugin::TapFactors& f) {
  constexpr std::size_t kWidth = std::size_t(SeparablePoints<S>::kWidth);
  std::vector<S> taps;
  for (int axis = plugin::kAxes - 1; axis >= 0; --axis) {
    for (const double factor : f.factor[std::size_t(axis)]) taps.push_back(S(factor));
    taps.resize(plugin::round_up(taps.size(), kWidth));
  }
  return taps;
}

template <bool kVolume, class T>
using SeparablePlan = BoxPlan<&stencil_separable_kernel<kVolume, T>, T, SeparableLayout>;

}  // namespace

template <class T>
std::unique_ptr<plugin::Plan> make_separable(Context& context, const plugin::StencilProblem& problem,
                                             std::int64_t segment) {
  const plugin::TapFactors factors = plugin::tap_factors(problem).value();
  const SeparableLayout layout = separable_layout(problem, context.machine(), factors, segment).value();
  const std::vector<Scalar<T>> taps = separable_taps<Scalar<T>>(factors);
  if (layout.march == 0)
    return std::make_unique<SeparablePlan<true, T>>(context, problem, layout, kSeparableThreads, taps);
  return std::make_unique<SeparablePlan<false, T>>(context, problem, layout, kSeparableThreads, taps);
}

}  // namespace tessera::cuda
