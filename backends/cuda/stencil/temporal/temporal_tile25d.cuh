// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over a domain of three axes. A block takes a pillar, a tile of rows and columns, and
/// streams along axis 0. A warp holds kRows neighbouring rows of a strip, as with two axes, and a step keeps the sums
/// of the planes that it has begun. Warps hand each other their outer rows through shared memory, with one barrier a
/// step.
#pragma once

#include "temporal_row.cuh"

#include <type_traits>

namespace tessera::cuda {

inline constexpr int kPillarRing = 4;  ///< planes of a pillar's input, all but one of them arriving

/// What a thread knows of its pillar, beside its lane.
struct PillarRows {
  Strip tile;
  int row;                       ///< the thread's first
  bool low, high;                ///< its first, its last row ends the axis
  bool keeps_first, keeps_last;  ///< which keep their values
};

/// Sums of a step: those of the plane that the next one completes, and of the one behind.
template <class T, int kRows>
using PillarSums = T[2][kRows][kStripColumns];

/// The rows of a thread between those of its neighbours.
template <class T, class Taps, int kRows>
using WideRows = WideRow<T, Taps>[kRows + 2];

/// Where the warps of a block leave their outer rows for their neighbours.
template <class T, int kWarps>
class RowExchange {
 public:
  static constexpr int kElements = 2 * kWarps * 2 * kStripWidth;  ///< of `buffer`
  __device__ explicit RowExchange(T* buffer) : buffer_(buffer) {}

  /// Gives the thread's first and last row, takes the row before and the one behind: any at the ends of the block.
  __device__ void trade(const T (&first)[kStripColumns], const T (&last)[kStripColumns], T (&before)[kStripColumns],
                        T (&behind)[kStripColumns]) {
    const int warp = int(threadIdx.y);
    copy(first, place(warp, 0));
    copy(last, place(warp, 1));
    __syncthreads();
    copy(place(max(warp - 1, 0), 1), before);
    copy(place(min(warp + 1, kWarps - 1), 0), behind);
    turn_ ^= 1;  // what is written next is not what slower warps still read
  }

 private:
  using Vector = PointVector<T>;
  static constexpr int kVector = Vector::kCount;

  __device__ Vector* place(int warp, int side) const {
    return reinterpret_cast<Vector*>(buffer_ + ((turn_ * kWarps + warp) * 2 + side) * kStripWidth) + threadIdx.x;
  }
  __device__ static void copy(const T (&row)[kStripColumns], Vector* to) {
#pragma unroll
    for (int v = 0; v < kStripColumns; v += kVector) {
      Vector part;
#pragma unroll
      for (int i = 0; i < kVector; ++i) part.at[i] = row[v + i];
      to[v / kVector * 32] = part;
    }
  }
  __device__ static void copy(const Vector* from, T (&row)[kStripColumns]) {
#pragma unroll
    for (int v = 0; v < kStripColumns; v += kVector) {
      const Vector part = from[v / kVector * 32];
#pragma unroll
      for (int i = 0; i < kVector; ++i) row[v + i] = part.at[i];
    }
  }

  T* buffer_;
  int turn_ = 0;
};

/// Replaces the rows that lie outside a closed end.
template <class Taps, int kRows, class T>
__device__ __forceinline__ void mend_rows(const TemporalAxis<T>& axis, const PillarRows& rows,
                                          WideRows<T, Taps, kRows>& wide) {
  const auto replace = [&](int side, bool here, const WideRow<T, Taps>& edge, const WideRow<T, Taps>& inner,
                           WideRow<T, Taps>& outside) {
#pragma unroll
    for (int i = 0; i < kStripColumns + 2 * Taps::kRadius; ++i) {
      const T mapped = axis.mode[side] == TESSERA_BOUNDARY_MIRROR ? inner.at[i] : edge.at[i];
      const T value = axis.mode[side] == TESSERA_BOUNDARY_CONSTANT ? axis.value[side] : mapped;
      outside.at[i] = here ? value : outside.at[i];
    }
  };
  if (rows.tile.low) replace(0, rows.low, wide[1], wide[2], wide[0]);
  if (rows.tile.high) replace(1, rows.high, wide[kRows], wide[kRows - 1], wide[kRows + 1]);
}

/// Adds the taps that read a plane, at one offset on axis 0 (`centre`: 0), of the points at the opposite offset.
template <class Taps, int kRows, class T>
__device__ __forceinline__ void add_plane(const T (&coefficients)[kTemporalSpan][kTemporalSpan], bool centre,
                                          const WideRows<T, Taps, kRows>& wide, T (&sum)[kRows][kStripColumns]) {
#pragma unroll
  for (int j = 0; j < kRows; ++j)
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v)
#pragma unroll
      for (int row = 0; row < 3; ++row)
#pragma unroll
        for (int column = 0; column < 3; ++column) {
          const int away = (centre ? 0 : 1) + (row != 1 ? 1 : 0) + (column != 1 ? 1 : 0);
          if (Taps::kBox || away <= 1)
            sum[j][v] = fma(coefficients[row][column], wide[j + row].at[v + column], sum[j][v]);
        }
}

/// What an arriving plane gives to one near an end of the axis beside what it gives to any. `k`: the plane's sum.
template <class Taps, int kRows, class T>
__device__ __forceinline__ void add_planes_outside(const TemporalArguments<T>& g, int k, int arriving, unsigned ends,
                                                   const WideRows<T, Taps, kRows>& wide,
                                                   T (&sum)[kRows][kStripColumns]) {
#pragma unroll 1
  for (int offset = -1; offset <= 1; ++offset) {
    if (!(ends & StreamEnds::outside(k, offset))) continue;
    const T(&coefficients)[kTemporalSpan][kTemporalSpan] = g.coefficients[offset + 1];
    const int read = arriving - 1 + k + offset;
    if (!g.stream.constant(read)) {
      add_plane<Taps, kRows>(coefficients, false, wide, sum);
      continue;
    }
    T constant = 0;
#pragma unroll
    for (int row = 0; row < 3; ++row)
#pragma unroll
      for (int column = 0; column < 3; ++column)
        if (Taps::kBox || (row == 1 && column == 1))
          constant = fma(coefficients[row][column], g.stream.value[read < 0 ? 0 : 1], constant);
#pragma unroll
    for (auto& points : sum)
#pragma unroll
      for (T& point : points) point += constant;
  }
}

/// One step takes plane `arriving` of the step before and gives the one before it of its own. kSides: the pillar has an
/// end of the rows' or the columns' axis; kNear: an end of axis 0 may be near.
template <class Taps, bool kSides, bool kNear, int kRows, int kWarps, class T>
__device__ __forceinline__ void pillar_step(const TemporalArguments<T>& g, const StripLane& lane,
                                            const PillarRows& rows, int arriving, RowExchange<T, kWarps>& exchange,
                                            PillarSums<T, kRows>& sums, T (&plane)[kRows][kStripColumns]) {
  if (kNear && g.stream.closed()) {
    if (arriving < 0) return;           // there is no such plane
    if (arriving >= g.stream.extent) {  // nor such, but the last one is complete
#pragma unroll
      for (int j = 0; j < kRows; ++j)
#pragma unroll
        for (int v = 0; v < kStripColumns; ++v) plane[j][v] = sums[0][j][v];
      return;
    }
  }

  T before[kStripColumns], behind[kStripColumns];
  exchange.trade(plane[0], plane[kRows - 1], before, behind);
  WideRows<T, Taps, kRows> wide;
  wide[0].fill(before, Taps::kBox);
#pragma unroll
  for (int j = 0; j < kRows; ++j) wide[j + 1].fill(plane[j], true);
  wide[kRows + 1].fill(behind, Taps::kBox);
  if constexpr (kSides) {
    if (lane.strip.low || lane.strip.high)
#pragma unroll
      for (auto& row : wide) row.mend(g.columns, lane.low, lane.high);
    mend_rows<Taps, kRows>(g.rows, rows, wide);
  }

  const unsigned ends = kNear && !g.stream.inner(arriving) ? g.ends.at(arriving, g.stream.extent) : 0;
#pragma unroll
  for (int k = 0; k <= 2; ++k) {
    T sum[kRows][kStripColumns];
    const bool frozen = k < 2 && (ends & StreamEnds::frozen(k));
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int v = 0; v < kStripColumns; ++v)
        sum[j][v] = k == 2 ? T(0) : k == 1 && frozen ? wide[j + 1].at[v + 1] : sums[k % 2][j][v];
    if (!frozen) {
      add_plane<Taps, kRows>(g.coefficients[2 - k], k == 1, wide, sum);
      if (ends & StreamEnds::outside(k)) add_planes_outside<Taps, kRows>(g, k, arriving, ends, wide, sum);
    }
    // A point that keeps its value has it from its own plane, and gets nothing from the one behind.
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int v = 0; v < kStripColumns; ++v) {
        const bool keep = (v == 0 && lane.keeps_low) || (v == kStripColumns - 1 && lane.keeps_high) ||
                          (j == 0 && rows.keeps_first) || (j == kRows - 1 && rows.keeps_last);
        if (kSides && k < 2 && keep) sum[j][v] = k == 0 ? sums[0][j][v] : wide[j + 1].at[v + 1];
        (k == 0 ? plane[j][v] : sums[k == 0 ? 0 : k - 1][j][v]) = sum[j][v];
      }
  }
}

template <class T, class Taps, int kWarps, int kRows, int kDepth>
__device__ __forceinline__ void temporal_pillar(const TemporalArguments<T>& g, const T* source, T* target, T* shared) {
  using Feed = StripFeed<T, kRows, kPillarRing>;
  const unsigned tile = blockIdx.x / unsigned(g.strips), piece = tile / unsigned(g.tiles);
  const StripLane lane(g, int(blockIdx.x % unsigned(g.strips)));
  PillarRows rows;
  rows.tile = g.row_cut.strip(int(tile % unsigned(g.tiles)), g.tiles);
  rows.row = rows.tile.begin + int(threadIdx.y) * kRows;
  rows.low = rows.tile.low && threadIdx.y == 0;
  rows.high = rows.tile.high && threadIdx.y == kWarps - 1;
  rows.keeps_first = rows.low && g.rows.mode[0] == TESSERA_BOUNDARY_FIXED;
  rows.keeps_last = rows.high && g.rows.mode[1] == TESSERA_BOUNDARY_FIXED;
  const bool vectors = g.target_vectors && (lane.strip.begin | lane.strip.from | lane.strip.to) % kStripColumns == 0;

  // The planes [out, out_end) need `depth` more on either side, as far as there are any.
  int out = int(piece) * g.piece;
  const int out_end = min(out + g.piece, g.stream.extent), end = out_end + g.depth;
  int i = out - g.depth;
  if (g.stream.closed()) i = max(i, 0);
  // In [inner_begin, inner_end) no step is near an end of the axis.
  const int inner_begin = g.stream.closed() ? g.depth - 1 + g.stream.inner_begin() : i;
  const int inner_end = g.stream.closed() ? min(g.stream.inner_last() + 1, end) : end;

  Feed feed(g, lane, source, rows.row, i, g.stream.closed() ? min(end, g.stream.extent) : end,
            shared + threadIdx.y * Feed::kElements);
  RowExchange<T, kWarps> exchange(shared + kWarps * Feed::kElements);
  T* to = target + out * g.target_strides[0] + rows.row * g.target_strides[1];
  PillarSums<T, kRows> sums[kDepth] = {};

  const auto advance = [&]<bool kSides, bool kNear>(std::bool_constant<kSides>, std::bool_constant<kNear>) {
    T plane[kRows][kStripColumns];
    feed.next(plane);
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      if (step >= g.depth) break;
      pillar_step<Taps, kSides, kNear, kRows, kWarps>(g, lane, rows, i - step, exchange, sums[step], plane);
    }
    if (i - g.depth >= out) {
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        if (rows.row + j >= rows.tile.from && rows.row + j < rows.tile.to)
          put_row(g, lane, vectors, plane[j], to + j * g.target_strides[1]);
      to += g.target_strides[0];
      ++out;
    }
    ++i;
  };
  constexpr std::true_type yes{};
  constexpr std::false_type no{};
  while (i < end) {
    if (i < inner_begin || i >= inner_end) {
      advance(yes, yes);
    } else if (lane.strip.low || lane.strip.high || rows.tile.low || rows.tile.high) {
#pragma unroll 1
      while (i < inner_end) advance(yes, no);
    } else {
#pragma unroll 1
      while (i < inner_end) advance(no, no);
    }
  }
}

template <class T, class Taps>
inline constexpr TemporalTuning kPillarTuning = temporal_tuning({3, Taps::kBox, Taps::kRadius}, sizeof(T) == 8);

template <class T, class Taps>
__global__ void __launch_bounds__(32 * kPillarTuning<T, Taps>.warps, (kPillarTuning<T, Taps>.resident))
    stencil_temporal_pillar_kernel(const __grid_constant__ TemporalArguments<T> g, const T* __restrict__ source,
                                   T* __restrict__ target) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr TemporalTuning tuning = kPillarTuning<T, Taps>;
  temporal_pillar<T, Taps, tuning.warps, tuning.rows, tuning.depth>(g, source, target,
                                                                    reinterpret_cast<T*>(shared_bytes));
}

template <class T>
TemporalKernels<T> find_pillar_kernels(const TemporalTaps& taps) {
  const auto kernels = []<class Taps>(Taps) {
    constexpr TemporalTuning tuning = kPillarTuning<T, Taps>;
    constexpr int kElements =
        tuning.warps * StripFeed<T, tuning.rows, kPillarRing>::kElements + RowExchange<T, tuning.warps>::kElements;
    const auto kernel = stencil_temporal_pillar_kernel<T, Taps>;
    return TemporalKernels<T>{kernel, kernel, dim3(32, tuning.warps), kElements * int(sizeof(T))};
  };
  return taps.box ? kernels(TapSet<1, true>{}) : kernels(TapSet<1, false>{});
}

}  // namespace tessera::cuda
