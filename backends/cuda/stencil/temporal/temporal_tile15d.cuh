// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over a domain of two axes (1.5D tiles). A warp takes a tile of columns, kLaneColumns
/// neighbouring ones a lane, and sweeps along the rows. A step keeps 2 r rows of partial sums, one for each row that it
/// has begun. A row that arrives from the step before is added to all of them. It completes one row, which goes on to
/// the next step at once, rounded to what elements of 16 bits hold. So all steps of a pass live in registers,
/// neighbours are exchanged by shuffles, and no warp waits for another.
#pragma once

#include "temporal_row.cuh"

#include <type_traits>

namespace tessera::cuda {

/// Partial sums of a step: entry k belongs to the row that k + 1 more rows will complete.
template <class S, class Taps>
using RowSums = S[2 * Taps::kRadius][kLaneColumns];

/// Adds the taps that read a row, at one offset on axis 1 (`centre`: 0), to the sums of the row at the opposite offset.
template <class Taps, class S>
__device__ __forceinline__ void add_taps(const S (&coefficients)[kTemporalSpan], bool centre,
                                         const HaloRow<S, Taps>& row, S (&sum)[kLaneColumns]) {
#pragma unroll
  for (int v = 0; v < kLaneColumns; ++v)
#pragma unroll
    for (int j = 0; j < Taps::kSpan; ++j)
      if (Taps::kBox || centre || j == Taps::kRadius) sum[v] = fma(coefficients[j], row.at[v + j], sum[v]);
}

/// Adds the taps that leave the domain across an end of the rows' axis. `k`: the row's sum.
template <class Taps, class S>
__device__ __forceinline__ void add_outside(const TemporalArguments<S>& g, int k, int arriving, unsigned ends,
                                            const HaloRow<S, Taps>& row, S (&sum)[kLaneColumns]) {
  constexpr int r = Taps::kRadius;
#pragma unroll 1
  for (int offset = -r; offset <= r; ++offset) {
    if (!(ends & SweepEnds::outside(k, offset))) continue;
    const S(&coefficients)[kTemporalSpan] = g.coefficients[0][offset + r];
    const int read = arriving - r + k + offset;
    if (!g.sweep.constant(read)) {
      add_taps<Taps>(coefficients, false, row, sum);
      continue;
    }
    S constant = 0;
#pragma unroll
    for (int j = 0; j < Taps::kSpan; ++j)
      if (Taps::kBox || j == r) constant = fma(coefficients[j], g.sweep.value[read < 0 ? 0 : 1], constant);
#pragma unroll
    for (S& point : sum) point += constant;
  }
}

/// Adds row `arriving` of the step before to all sums; `row` becomes the row that this completes. `ends`: what the
/// arriving row does near the ends of the axis. kKeeps: points may keep their values. T: the type of elements.
template <class T, class Taps, bool kKeeps, class S>
__device__ __forceinline__ void add_row(const TemporalArguments<S>& g, bool keeps_low, bool keeps_high, int arriving,
                                        unsigned ends, const HaloRow<S, Taps>& input, RowSums<S, Taps>& sums,
                                        S (&row)[kLaneColumns]) {
  constexpr int r = Taps::kRadius;
#pragma unroll
  for (int k = 0; k <= 2 * r; ++k) {
    S sum[kLaneColumns];
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) sum[v] = k < 2 * r ? sums[k % (2 * r)][v] : S(0);
    add_taps<Taps>(g.coefficients[0][2 * r - k], k == r, input, sum);
    if (ends & SweepEnds::outside(k)) add_outside<Taps>(g, k, arriving, ends, input, sum);
    if (k == 0) round_values<T>(sum);
      // A point that keeps its value takes it from its own row, and nothing from the rows behind.
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) {
      const bool keep = (ends & SweepEnds::frozen(k)) || (v < r && keeps_low) || (v >= kLaneColumns - r && keeps_high);
      if (kKeeps && k <= r && keep) sum[v] = k < r ? sums[k][v] : input.at[r + v];
      (k == 0 ? row : sums[k == 0 ? 0 : k - 1])[v] = sum[v];
    }
  }
}

/// The arguments of add_row() where it is not inlined.
template <class S, class Taps>
struct RowNearEnd {
  HaloRow<S, Taps> input;
  RowSums<S, Taps> sums;
  S row[kLaneColumns];
};

/// add_row() near an end of the axis. Not inlined, since a copy for each step of a pass exceeds the instruction cache.
template <class T, class Taps, class S>
__device__ __noinline__ void add_row_near_end(const TemporalArguments<S>& g, bool keeps_low, bool keeps_high,
                                              int arriving, RowNearEnd<S, Taps>& at) {
  add_row<T, Taps, true>(g, keeps_low, keeps_high, arriving, g.ends.at(arriving, g.sweep.extent), at.input, at.sums,
                         at.row);
}

/// One step takes row `arriving` of the step before and produces one of its own, r rows behind. kAtSide: the tile has
/// an end of the columns' axis; kNearEnd: an end of the rows' axis may be near.
template <class T, class Taps, bool kAtSide, bool kNearEnd, class S>
__device__ __forceinline__ void tile15d_step(const TemporalArguments<S>& g, const LaneColumns& lane, int arriving,
                                             RowSums<S, Taps>& sums, S (&row)[kLaneColumns]) {
  constexpr int r = Taps::kRadius;
  HaloRow<S, Taps> input;
  input.fill(row, true);
  if (kAtSide) input.apply_boundary(g.columns, lane.low, lane.high);
  if (!kNearEnd || g.sweep.inner(arriving))
    return add_row<T, Taps, kAtSide>(g, lane.keeps_low, lane.keeps_high, arriving, 0, input, sums, row);
  if (arriving < 0) return;  // there is no such row
  RowNearEnd<S, Taps> at;
  const bool past_end = arriving >= g.sweep.extent;  // nor such a row, but the last sums are complete
  if (!past_end) {
    at.input = input;
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v)
#pragma unroll
      for (int k = 0; k < 2 * r; ++k) at.sums[k][v] = sums[k][v];
    add_row_near_end<T>(g, lane.keeps_low, lane.keeps_high, arriving, at);
  }
#pragma unroll
  for (int v = 0; v < kLaneColumns; ++v) {
    row[v] = past_end ? round_keeping_nan<T>(sums[0][v]) : at.row[v];
#pragma unroll
    for (int k = 0; k < 2 * r; ++k) sums[k][v] = !past_end ? at.sums[k][v] : k + 1 < 2 * r ? sums[k + 1][v] : S(0);
  }
}

/// Which tile and chunk a warp computes. Tiles at the ends of a closed axis take longer and come first.
template <class S>
__device__ __forceinline__ void assign_work(const TemporalArguments<S>& g, int& tile, int& chunk) {
  const unsigned unit = blockIdx.x;
  const unsigned ends = g.columns.closed() ? min(g.column_tiles, 2) : 0, first = ends * unsigned(g.chunks);
  if (unit < first) {
    chunk = int(unit / ends);
    tile = unit % ends == 0 ? 0 : g.column_tiles - 1;
  } else {
    const unsigned inner = unsigned(g.column_tiles) - ends;
    chunk = int((unit - first) / inner);
    tile = int((unit - first) % inner + ends / 2);
  }
}

/// kExact: passes of kDepth steps, else of g.depth, which is at most as many.
template <class T, class Taps, int kDepth, bool kExact>
__device__ __forceinline__ void temporal_tile15d(const TemporalArguments<Scalar<T>>& g, const T* source, T* target,
                                                 T* ring) {
  using S = Scalar<T>;
  constexpr int r = Taps::kRadius;
  int tile, chunk;
  assign_work(g, tile, chunk);
  const int depth = kExact ? kDepth : g.depth;

  const LaneColumns lane(g, tile);
  const bool vectors = g.target_vectors && lane.aligned();
  const SweepRange range(g, chunk, depth, r);
  int i = range.begin, out = range.out;
  PlaneLoader<T, 1, kTile15dStages> loader(g, lane, source, 0, i, range.load_end(g), ring);
  T* to = target + out * g.target_strides[0];
  RowSums<S, Taps> sums[kDepth] = {};

  const auto advance = [&]<bool kAtSide, bool kNearEnd>(std::bool_constant<kAtSide>, std::bool_constant<kNearEnd>) {
    S rows[1][kLaneColumns];
    loader.template next<kAtSide || kNearEnd>(rows);
    S(&row)[kLaneColumns] = rows[0];
#pragma unroll
    for (int s = 0; s < kDepth; ++s) {
      if (!kExact && s >= depth) break;
      tile15d_step<T, Taps, kAtSide, kNearEnd>(g, lane, i - s * r, sums[s], row);
    }
    if (i - depth * r >= out) {
      store_row(g, lane, vectors, row, to);
      to += g.target_strides[0];
      ++out;
    }
    ++i;
  };
  // Three loops, so that most tiles run code without boundaries.
  constexpr std::true_type yes{};
  constexpr std::false_type no{};
  while (i < range.end) {
    if (i < range.inner_begin || i >= range.inner_end) {
      advance(yes, yes);
    } else if (lane.tile.low || lane.tile.high) {
#pragma unroll 1
      while (i < range.inner_end) advance(yes, no);
    } else {
#pragma unroll 1
      while (i < range.inner_end) advance(no, no);
    }
  }
}

template <class T, class Taps>
inline constexpr TemporalTuning kTile15dTuning = temporal_tuning<T>({2, Taps::kBox, Taps::kRadius});

template <class T, class Taps, bool kExact>
__global__ void __launch_bounds__(32, (kTile15dTuning<T, Taps>.blocks_per_sm))
    stencil_temporal_tile15d_kernel(const __grid_constant__ TemporalArguments<Scalar<T>> g,
                                    const T* __restrict__ source, T* __restrict__ target) {
  __shared__ __align__(16) T ring[PlaneLoader<T, 1, kTile15dStages>::kElements];
  temporal_tile15d<T, Taps, kTile15dTuning<T, Taps>.depth, kExact>(g, source, target, ring);
}

template <class T>
TemporalKernels<T> tile15d_kernels(const TemporalTaps& taps) {
  const auto pair = []<class Taps>(Taps) {
    return TemporalKernels<T>{stencil_temporal_tile15d_kernel<T, Taps, true>,
                              stencil_temporal_tile15d_kernel<T, Taps, false>, dim3(32), 0};
  };
  if (taps.box) return pair(TapSet<1, true>{});
  return taps.radius == 1 ? pair(TapSet<1, false>{}) : pair(TapSet<2, false>{});
}

}  // namespace tessera::cuda
