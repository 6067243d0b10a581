// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over a domain of two axes. A warp takes a strip of columns, kColumns neighbouring ones a
/// lane, and streams along the rows. A step keeps, for each row that it has begun, the sums of the taps that have come
/// by (2 r rows); a row that comes from the step before is added to all of them, completes one, and that one goes on
/// to the next step at once. So all steps of a pass live in registers, neighbours are exchanged by shuffles, and no
/// warp waits for another.
#pragma once

#include "temporal_row.cuh"

#include <type_traits>

namespace tessera::cuda {

inline constexpr int kStripRing = 8;  ///< rows of a strip's input, all but one of them arriving

/// Sums of a step: entry k belongs to the row that k + 1 more rows will complete.
template <class T, class Taps>
using StripSums = T[2 * Taps::kRadius][kStripColumns];

/// Adds the taps that read a row, at one offset on axis 1 (`centre`: 0), of the points at the opposite offset.
template <class Taps, class T>
__device__ __forceinline__ void add_taps(const T (&coefficients)[kTemporalSpan], bool centre,
                                         const WideRow<T, Taps>& row, T (&sum)[kStripColumns]) {
#pragma unroll
  for (int v = 0; v < kStripColumns; ++v)
#pragma unroll
    for (int j = 0; j < Taps::kSpan; ++j)
      if (Taps::kBox || centre || j == Taps::kRadius) sum[v] = fma(coefficients[j], row.at[v + j], sum[v]);
}

/// What an arriving row gives to one near an end of the axis beside what it gives to any. `k`: the row's sum.
template <class Taps, class T>
__device__ __forceinline__ void add_outside(const TemporalArguments<T>& g, int k, int arriving, unsigned ends,
                                            const WideRow<T, Taps>& wide, T (&sum)[kStripColumns]) {
  constexpr int r = Taps::kRadius;
#pragma unroll 1
  for (int offset = -r; offset <= r; ++offset) {
    if (!(ends & StreamEnds::outside(k, offset))) continue;
    const T(&coefficients)[kTemporalSpan] = g.coefficients[0][offset + r];
    const int read = arriving - r + k + offset;
    if (!g.stream.constant(read)) {
      add_taps<Taps>(coefficients, false, wide, sum);
      continue;
    }
    T constant = 0;
#pragma unroll
    for (int j = 0; j < Taps::kSpan; ++j)
      if (Taps::kBox || j == r) constant = fma(coefficients[j], g.stream.value[read < 0 ? 0 : 1], constant);
#pragma unroll
    for (T& point : sum) point += constant;
  }
}

/// Adds row `arriving` of the step before to all sums; `row` becomes the one that is complete. `ends`: what the row
/// does near the ends of the axis. kKeeps: points may keep their values.
template <class Taps, bool kKeeps, class T>
__device__ __forceinline__ void add_row(const TemporalArguments<T>& g, bool keeps_low, bool keeps_high, int arriving,
                                        unsigned ends, const WideRow<T, Taps>& wide, StripSums<T, Taps>& sums,
                                        T (&row)[kStripColumns]) {
  constexpr int r = Taps::kRadius;
#pragma unroll
  for (int k = 0; k <= 2 * r; ++k) {
    T sum[kStripColumns];
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) sum[v] = k < 2 * r ? sums[k % (2 * r)][v] : T(0);
    add_taps<Taps>(g.coefficients[0][2 * r - k], k == r, wide, sum);
    if (ends & StreamEnds::outside(k)) add_outside<Taps>(g, k, arriving, ends, wide, sum);
      // A point that keeps its value has it from its own row, and gets nothing from the rows behind.
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      const bool keep =
          (ends & StreamEnds::frozen(k)) || (v < r && keeps_low) || (v >= kStripColumns - r && keeps_high);
      if (kKeeps && k <= r && keep) sum[v] = k < r ? sums[k][v] : wide.at[r + v];
      (k == 0 ? row : sums[k == 0 ? 0 : k - 1])[v] = sum[v];
    }
  }
}

/// What add_row() takes and gives, where it is not inlined.
template <class T, class Taps>
struct RowNearEnd {
  WideRow<T, Taps> wide;
  StripSums<T, Taps> sums;
  T row[kStripColumns];
};

/// Near an end of the axis. Not inlined, since a copy for each step of a pass exceeds the instruction cache.
template <class Taps, class T>
__device__ __noinline__ void add_row_near_end(const TemporalArguments<T>& g, bool keeps_low, bool keeps_high,
                                              int arriving, RowNearEnd<T, Taps>& at) {
  add_row<Taps, true>(g, keeps_low, keeps_high, arriving, g.ends.at(arriving, g.stream.extent), at.wide, at.sums,
                      at.row);
}

/// One step takes row `arriving` of the step before and gives one of its own, r rows behind. kColumns: the strip has an
/// end of the columns' axis; kRows: an end of the rows' axis may be near.
template <class Taps, bool kColumns, bool kRows, class T>
__device__ __forceinline__ void step(const TemporalArguments<T>& g, const StripLane& lane, int arriving,
                                     StripSums<T, Taps>& sums, T (&row)[kStripColumns]) {
  constexpr int r = Taps::kRadius;
  WideRow<T, Taps> wide;
  wide.fill(row, true);
  if (kColumns) wide.mend(g.columns, lane.low, lane.high);
  if (!kRows || g.stream.inner(arriving))
    return add_row<Taps, kColumns>(g, lane.keeps_low, lane.keeps_high, arriving, 0, wide, sums, row);
  if (arriving < 0) return;  // there is no such row
  RowNearEnd<T, Taps> at;
  const bool gone = arriving >= g.stream.extent;  // nor such, but the last ones are complete
  if (!gone) {
    at.wide = wide;
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v)
#pragma unroll
      for (int k = 0; k < 2 * r; ++k) at.sums[k][v] = sums[k][v];
    add_row_near_end<Taps>(g, lane.keeps_low, lane.keeps_high, arriving, at);
  }
#pragma unroll
  for (int v = 0; v < kStripColumns; ++v) {
    row[v] = gone ? sums[0][v] : at.row[v];
#pragma unroll
    for (int k = 0; k < 2 * r; ++k) sums[k][v] = !gone ? at.sums[k][v] : k + 1 < 2 * r ? sums[k + 1][v] : T(0);
  }
}

/// What a warp computes. Strips at the ends of a closed axis take longer and come first.
template <class T>
__device__ __forceinline__ void place_of_warp(const TemporalArguments<T>& g, int& strip, int& piece) {
  const unsigned unit = blockIdx.x;
  const unsigned ends = g.columns.closed() ? min(g.strips, 2) : 0, first = ends * unsigned(g.pieces);
  if (unit < first) {
    piece = int(unit / ends);
    strip = unit % ends == 0 ? 0 : g.strips - 1;
  } else {
    const unsigned inner = unsigned(g.strips) - ends;
    piece = int((unit - first) / inner);
    strip = int((unit - first) % inner + ends / 2);
  }
}

/// kExact: passes of kDepth steps, else of g.depth, which is at most as many.
template <class T, class Taps, int kDepth, bool kExact>
__device__ __forceinline__ void temporal_strip(const TemporalArguments<T>& g, const T* source, T* target, T* ring) {
  constexpr int r = Taps::kRadius;
  int index, piece;
  place_of_warp(g, index, piece);
  const int depth = kExact ? kDepth : g.depth;

  const StripLane lane(g, index);
  const bool vectors = g.target_vectors && (lane.strip.begin | lane.strip.from | lane.strip.to) % kStripColumns == 0;

  // The rows [out, out_end) need `depth * r` more on either side, as far as there are any.
  int out = piece * g.piece;
  const int out_end = min(out + g.piece, g.stream.extent), end = out_end + depth * r;
  int i = out - depth * r;
  if (g.stream.closed()) i = max(i, 0);
  // In [inner_begin, inner_end) no step is near an end of the axis.
  const int inner_begin = g.stream.closed() ? (depth - 1) * r + g.stream.inner_begin() : i;
  const int inner_end = g.stream.closed() ? min(g.stream.inner_last() + 1, end) : end;

  StripFeed<T, 1, kStripRing> feed(g, lane, source, 0, i, g.stream.closed() ? min(end, g.stream.extent) : end, ring);
  T* to = target + out * g.target_strides[0];
  StripSums<T, Taps> sums[kDepth] = {};

  const auto advance = [&]<bool kColumns, bool kRows>(std::bool_constant<kColumns>, std::bool_constant<kRows>) {
    T rows[1][kStripColumns];
    feed.next(rows);
    T(&row)[kStripColumns] = rows[0];
#pragma unroll
    for (int s = 0; s < kDepth; ++s) {
      if (!kExact && s >= depth) break;
      step<Taps, kColumns, kRows>(g, lane, i - s * r, sums[s], row);
    }
    if (i - depth * r >= out) {
      put_row(g, lane, vectors, row, to);
      to += g.target_strides[0];
      ++out;
    }
    ++i;
  };
  constexpr std::true_type ends{};
  constexpr std::false_type no_ends{};
  while (i < end) {
    if (i < inner_begin || i >= inner_end) {
      advance(ends, ends);
    } else if (lane.strip.low || lane.strip.high) {
#pragma unroll 1
      while (i < inner_end) advance(ends, no_ends);
    } else {
#pragma unroll 1
      while (i < inner_end) advance(no_ends, no_ends);
    }
  }
}

template <class T, class Taps>
inline constexpr TemporalTuning kStripTuning = temporal_tuning({2, Taps::kBox, Taps::kRadius}, sizeof(T) == 8);

template <class T, class Taps, bool kExact>
__global__ void __launch_bounds__(32, (kStripTuning<T, Taps>.resident))
    stencil_temporal_strip_kernel(const __grid_constant__ TemporalArguments<T> g, const T* __restrict__ source,
                                  T* __restrict__ target) {
  __shared__ __align__(16) T ring[StripFeed<T, 1, kStripRing>::kElements];
  temporal_strip<T, Taps, kStripTuning<T, Taps>.depth, kExact>(g, source, target, ring);
}

template <class T>
TemporalKernels<T> find_strip_kernels(const TemporalTaps& taps) {
  const auto pair = []<class Taps>(Taps) {
    return TemporalKernels<T>{stencil_temporal_strip_kernel<T, Taps, true>,
                              stencil_temporal_strip_kernel<T, Taps, false>, dim3(32), 0};
  };
  if (taps.box) return pair(TapSet<1, true>{});
  return taps.radius == 1 ? pair(TapSet<1, false>{}) : pair(TapSet<2, false>{});
}

}  // namespace tessera::cuda
