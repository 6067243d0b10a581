// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of "separable": sums along rows, then of these along columns, and in volumes along axis 0, in one kernel.
/// A block marches, so that each sum is made once but at a block's ends.
#pragma once

#include "../box_plan.cuh"
#include "../tap_line.cuh"
#include "separable.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::cuda {
namespace {

/// The taps are, term by term, the factors of axes 2, 1 and 0, each in whole vectors.
template <class T>
using SeparableArguments = BoxArguments<T, SeparableLayout>;

/// A block: its first point, its stages, and where its parts of shared memory lie.
template <bool kVolume, class S>
struct SeparableBlock {
  using Points = SeparablePoints<S, kVolume>;
  static constexpr int kMarch = kVolume ? 0 : 1, kBatch = kVolume ? 1 : Points::kRows;  // axis and points of a stage
  std::int64_t at[plugin::kAxes];
  int stages, whole_begin, whole_end;                             ///< all, and those whose cells are all in the domain
  std::uint32_t barrier, cells, sums, ring, taps[plugin::kAxes];  ///< sums and taps of the first term

  __device__ __forceinline__ SeparableBlock(const SeparableLayout& l, const plugin::Domain& d, std::uint32_t shared) {
    at[0] = std::int64_t(blockIdx.z) * (kVolume ? l.segment : 1);
    at[1] = std::int64_t(blockIdx.y) * (kVolume ? 1 : l.segment) * Points::kRows;
    at[2] = std::int64_t(blockIdx.x) * Points::kSpan;
    stages = int(min(std::int64_t(l.segment), plugin::ceil_div(d.extents[kMarch] - at[kMarch], kBatch))) + l.lag;
    const auto inside = [&](int axis, int count) {
      const std::int64_t first = at[axis] + l.first[axis];
      return first >= 0 && first + count <= d.extents[axis];
    };
    const bool whole = inside(2, l.columns) && inside(1 - kMarch, kVolume ? l.rows : 1);
    const std::int64_t first = at[kMarch] + l.first[kMarch] - l.skip, last = d.extents[kMarch] - first;
    whole_begin = int(min(std::int64_t(stages), plugin::ceil_div(max(std::int64_t(0), -first), kBatch)));
    whole_end = whole ? int(min(std::int64_t(stages), last / kBatch)) : 0;
    barrier = shared, cells = barrier + kSeparableBarrierBytes, sums = cells + std::uint32_t(l.cell_bytes);
    ring = sums + std::uint32_t(l.terms * l.sum_bytes);
    std::uint32_t of_axis = ring + std::uint32_t(l.ring_bytes);
#pragma unroll
    for (int axis = plugin::kAxes - 1; axis >= 0; --axis)
      taps[axis] = of_axis,
      of_axis += std::uint32_t(plugin::ceil_div(l.lead[axis] + l.taps[axis], Points::kWidth)) * 16;
  }
};

/// Starts to copy the cells of a stage.
template <bool kVolume, class T>
__device__ __forceinline__ void copy_stage(const SeparableArguments<T>& g, const SeparableBlock<kVolume, Scalar<T>>& b,
                                           int stage, const T* source) {
  using Points = SeparablePoints<Scalar<T>, kVolume>;
  const SeparableLayout& l = g.layout;
  const int skip = stage == 0 ? l.skip : 0;
  const BoxCells cells{
      {b.at[0] + l.first[0] + (kVolume ? stage : 0),
       b.at[1] + l.first[1] + skip + (kVolume ? 0 : stage * Points::kRows - l.skip), b.at[2] + l.first[2]},
      l.rows - skip,
      l.columns,
      l.pitch,
      b.cells + std::uint32_t(skip * l.pitch) * std::uint32_t(sizeof(T))};
  const bool whole = stage >= b.whole_begin && stage < b.whole_end;
#if __CUDA_ARCH__ >= 900
  if (comes_in_bulk<T>(g)) return copy_box_in_bulk<false>(cells, g, whole, source, b.barrier);
#endif
  copy_box<false>(cells, g, whole, source);
}

/// Waits for them.
template <class T, class Block>
__device__ __forceinline__ void await_stage([[maybe_unused]] const SeparableArguments<T>& g,
                                            [[maybe_unused]] const Block& b, [[maybe_unused]] int stage) {
  cp_async_wait<0>();
#if __CUDA_ARCH__ >= 900
  if (comes_in_bulk<T>(g)) barrier_wait(b.barrier, unsigned(stage) % 2);
#endif
}

/// Sums along a row of cells by a term's `taps`, to the thread's place in a row of sums.
template <class T, bool kVolume, class S>
__device__ __forceinline__ void sum_along_row(const SeparableLayout& l, const SeparableBlock<kVolume, S>& b, int row,
                                              std::uint32_t taps, std::uint32_t to) {
  using Points = SeparablePoints<S, kVolume>;
  const int first = int(threadIdx.x) % Points::kLanes * Points::kPoints;
  S sum[Points::kPoints] = {};
  std::uint32_t from = b.cells + std::uint32_t(row * l.pitch + l.before + first) * std::uint32_t(sizeof(T));
  const auto load = [&](S* value) {
    load_cells<T>(from, value);
    from += kCellVectorBytes<T>;
  };
  add_line(sum, taps, l.taps[2] - l.rest, load);
  if (l.rest > 0) {
    from -= Points::kVectors * kCellVectorBytes<T>;  // that the last tap's group loaded beyond its first
    add_rest(sum, taps + (b.taps[1] - b.taps[2]) - 16, l.rest, load);
  }
  to += std::uint32_t(first) * std::uint32_t(sizeof(S));
#pragma unroll
  for (int v = 0; v < Points::kVectors; ++v) store_shared_vector(to + v * 16, sum + v * Points::kWidth);
}

/// Sums along a column of sums along rows, from `from` on. In planes their rows lie in a ring, one for each term.
template <bool kVolume, class S>
__device__ __forceinline__ void sum_along_column(const SeparableLayout& l, const SeparableBlock<kVolume, S>& b,
                                                 std::uint32_t from, S (&sum)[SeparablePoints<S, kVolume>::kPoints]) {
  using Points = SeparablePoints<S, kVolume>;
  constexpr std::uint32_t kRowBytes = Points::kSumPitch * sizeof(S);
  const std::uint32_t bytes = std::uint32_t(l.sum_bytes);
  std::uint32_t taps = b.taps[1], end = b.sums + bytes;
#pragma unroll 1
  for (int term = 0; term < (kVolume ? 1 : l.terms); ++term) {
    std::uint32_t at = from;
    add_line(sum, taps, l.taps[1], [&](S* value) {
#pragma unroll
      for (int i = 0; i < Points::kWidth; ++i) value[i] = load_shared_value<S>(at + i * kRowBytes);
      at += Points::kWidth * kRowBytes;
      if (!kVolume && at >= end) at -= bytes;
    });
    taps += std::uint32_t(l.groups) * 16, from += bytes, end += bytes;
  }
}

/// A column of points that a thread writes, so many at a time.
template <class T, int kPoints>
struct ColumnWriter {
  using S = Scalar<T>;
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
__device__ __forceinline__ bool add_planes(const SeparableLayout& l, const SeparableBlock<true, S>& b, int stage,
                                           S (&sum)[SeparablePoints<S, true>::kPoints]) {
  using Points = SeparablePoints<S, true>;
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
    const S tap = load_shared_value<S>(b.taps[0] + std::uint32_t(l.lead[0] + t) * std::uint32_t(sizeof(S)));
#pragma unroll
    for (int p = 0; p < Points::kPoints; ++p) sum[p] = fma(tap, value[p], sum[p]);
    at += kPlane;
    if (at == end) at = own;
  }
  return true;
}

template <bool kVolume, class T>
__global__ void __launch_bounds__(kSeparableThreads, kVolume ? 6 : 8)
    stencil_separable_kernel(const __grid_constant__ SeparableArguments<T> g, const T* __restrict__ source,
                             T* __restrict__ target) {
  using S = Scalar<T>;
  using Points = SeparablePoints<S, kVolume>;
  constexpr int kPoints = Points::kPoints, kRows = Points::kRows, kSpan = Points::kSpan;
  constexpr std::uint32_t kRowBytes = Points::kSumPitch * sizeof(S);
  extern __shared__ __align__(16) unsigned char memory[];
  wait_for_predecessor();
  start_successor();
  const SeparableLayout& l = g.layout;
  const plugin::Domain& d = g.geometry.domain;
  const SeparableBlock<kVolume, S> b(l, d, shared_address(memory));
  const int thread = int(threadIdx.x), own_row = thread / Points::kLanes;
  for (int i = thread; i < l.terms * l.groups; i += kSeparableThreads)
    cp_async<16>(b.taps[2] + std::uint32_t(i) * 16, g.taps + i * Points::kWidth, true);
#if __CUDA_ARCH__ >= 900
  if (thread == 0) barrier_init(b.barrier, kSeparableThreads / 32), barriers_ready();
  __syncthreads();
#endif

  const int column = thread % kSpan, down = thread / kSpan * kPoints;
  const ColumnWriter<T, kPoints> writer(g.geometry, source, target, b.at[0], b.at[1] + down, b.at[2] + column);
  const bool plane_computed = !d.frozen_on(0, b.at[0]);
  // The first row of sums that points need lies lead[1] rows behind the first one that is loaded.
  const int first = (l.lead[1] + own_row - l.skip) * int(kRowBytes);
  const std::uint32_t sum_end = b.sums + std::uint32_t(l.sum_bytes);
  std::uint32_t newest = b.sums + std::uint32_t(first + (first < 0             ? l.sum_bytes
                                                         : first < l.sum_bytes ? 0
                                                                               : -l.sum_bytes));
  std::uint32_t oldest = b.sums + std::uint32_t(down) * kRowBytes;
#pragma unroll 1
  for (int stage = -1; stage < b.stages; ++stage) {
    if (stage >= 0) {
      await_stage<T>(g, b, stage);
      __syncthreads();
      if constexpr (kVolume) {
#pragma unroll 1
        for (int row = own_row; row < l.rows; row += kRows)
          sum_along_row<T>(l, b, row, b.taps[2], b.sums + std::uint32_t(l.lead[1] + row) * kRowBytes);
      } else {
#pragma unroll 1
        for (int term = 0; term < l.terms && (stage > 0 || own_row >= l.skip); ++term)
          sum_along_row<T>(l, b, own_row, b.taps[2] + std::uint32_t(term * l.groups) * 16,
                           newest + std::uint32_t(term * l.sum_bytes));
        newest += kRows * kRowBytes;
        if (newest >= sum_end) newest -= std::uint32_t(l.sum_bytes);
      }
      __syncthreads();
    }
    if (stage + 1 < b.stages) copy_stage<kVolume, T>(g, b, stage + 1, source);
    cp_async_commit();
    const int done = stage - l.lag;
    if (stage < 0 || (!kVolume && done < 0)) continue;

    S sum[kPoints] = {};
    sum_along_column(l, b, oldest + std::uint32_t(column) * std::uint32_t(sizeof(S)), sum);
    if constexpr (kVolume) {
      if (add_planes(l, b, stage, sum)) writer.write(sum, done, 0, !d.frozen_on(0, b.at[0] + done));
    } else {
      oldest += kRows * kRowBytes;
      if (oldest >= sum_end) oldest -= std::uint32_t(l.sum_bytes);
      writer.write(sum, 0, done * kRows, plane_computed);
    }
  }
}

template <class S>
std::vector<S> separable_taps(const plugin::TapTerms& f, const SeparableLayout& l) {
  constexpr std::size_t kWidth = 16 / sizeof(S);
  std::vector<S> taps;
  for (const plugin::TapTerms::Factors& term : f.terms)
    for (int axis = plugin::kAxes - 1; axis >= 0; --axis) {
      taps.resize(taps.size() + std::size_t(l.lead[axis]));
      for (const double factor : term[std::size_t(axis)]) taps.push_back(S(factor));
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
  const plugin::TapTerms terms = plugin::tap_terms(problem).value();
  const SeparableLayout layout = separable_layout(problem, context.machine(), terms, segment).value();
  const std::vector<Scalar<T>> taps = separable_taps<Scalar<T>>(terms, layout);
  if (layout.march == 0)
    return std::make_unique<SeparablePlan<true, T>>(context, problem, layout, kSeparableThreads, taps);
  return std::make_unique<SeparablePlan<false, T>>(context, problem, layout, kSeparableThreads, taps);
}

}  // namespace tessera::cuda
