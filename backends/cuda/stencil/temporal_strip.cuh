// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over a domain of two axes. A warp takes a strip of columns, kColumns neighbouring ones a
/// lane, and streams along the rows. A step keeps, for each row that it has begun, the sums of the taps that have come
/// by (2 r rows); a row that comes from the step before is added to all of them, completes one, and that one goes on
/// to the next step at once. So all steps of a pass live in registers, neighbours are exchanged by shuffles, and no
/// warp waits for another.
#pragma once

#include "../gemm/cp_async.cuh"
#include "temporal_kernels.hpp"

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

inline constexpr int kStripRing = 8;  ///< rows of a strip's input, all but one of them arriving

/// A tap list of two axes: all taps within the radius (box), or those on the axes (star).
template <int kRadius_, bool kBox_>
struct StripTaps {
  static constexpr int kRadius = kRadius_;
  static constexpr bool kBox = kBox_;
  static constexpr int kSpan = 2 * kRadius + 1;
};

/// What a lane knows of its strip.
struct StripLane {
  Strip strip;
  int column;                  ///< the lane's first
  bool low, high;              ///< the lane's first, its last column ends the axis
  bool keeps_low, keeps_high;  ///< whose points within the taps' reach keep their values

  template <class T>
  __device__ StripLane(const StripArguments<T>& g, int index)
      : strip(g.cut.strip(index, g.strips)),
        column(strip.begin + int(threadIdx.x) * kStripColumns),
        low(strip.low && threadIdx.x == 0),
        high(strip.high && threadIdx.x == 31),
        keeps_low(low && g.columns.mode[0] == TESSERA_BOUNDARY_FIXED),
        keeps_high(high && g.columns.mode[1] == TESSERA_BOUNDARY_FIXED) {}
};

/// Input rows of a strip on their way through shared memory.
template <class T>
class StripFeed {
 public:
  static constexpr int kVector = 16 / sizeof(T);
  static constexpr int kParts = kStripColumns / kVector;

  __device__ StripFeed(const StripArguments<T>& g, const StripLane& lane, const T* source, int first, int end, T* ring)
      : g_(g), source_(source), left_(end - first), ring_(ring) {
    const int extent = g.columns.extent, begin = lane.strip.begin;
    wraps_ = begin < 0 || begin + kStripWidth > extent;
    vectors_ = g.source_vectors && begin % kStripColumns == 0 && (!wraps_ || extent % kStripColumns == 0);
    column_ = vectors_ ? begin + int(threadIdx.x) * kVector : lane.column;
    row_ = first % g.rows.extent;
    if (row_ < 0) row_ += g.rows.extent;
    from_ = source + row_ * g.source_strides[0];
#pragma unroll
    for (int i = 0; i < kStripRing - 1; ++i) start();
  }

  /// The next row. Behind the last one: anything.
  __device__ void next(T (&row)[kStripColumns]) {
    cp_async_wait<kStripRing - 2>();
    __syncwarp();
    start();
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const T* vector = ring_ + reading_ * kStripWidth + place(threadIdx.x * kParts + part);
#pragma unroll
      for (int i = 0; i < kVector; ++i) row[part * kVector + i] = vector[i];
    }
    reading_ = (reading_ + 1) % kStripRing;
  }

 private:
  /// Of a vector in a row. Eight lanes that read at a time find theirs in different banks.
  __device__ static unsigned place(unsigned vector) {
    return (kParts == 1 ? vector : vector ^ (vector >> 3 & 1)) * kVector;
  }

  __device__ int column(int distance) const {
    const int column = column_ + distance, extent = g_.columns.extent;
    return wraps_ ? (column % extent + extent) % extent : column;
  }

  __device__ void start() {
    if (left_ > 0) {
      T* const to = ring_ + writing_ * kStripWidth;
      if (vectors_) {
#pragma unroll
        for (int part = 0; part < kParts; ++part)
          cp_async<16>(shared_address(to + place(part * 32 + threadIdx.x)), from_ + column(part * 32 * kVector), true);
      } else {
#pragma unroll
        for (int v = 0; v < kStripColumns; ++v)
          cp_async<sizeof(T)>(shared_address(to + place(threadIdx.x * kParts + v / kVector) + v % kVector),
                              from_ + column(v) * g_.source_strides[1], true);
      }
      --left_;
      from_ += g_.source_strides[0];
      if (++row_ == g_.rows.extent) row_ = 0, from_ = source_;
    }
    cp_async_commit();
    writing_ = (writing_ + 1) % kStripRing;
  }

  const StripArguments<T>& g_;
  const T* source_;
  const T* from_;
  int row_, left_;
  T* ring_;
  unsigned reading_ = 0, writing_ = 0;
  int column_;  ///< of the first vector that the lane copies, or of its first own point
  bool wraps_, vectors_;
};

/// A row of a lane with the neighbours' columns that its taps read.
template <class T, class Taps>
struct WideRow {
  T at[kStripColumns + 2 * Taps::kRadius];

  __device__ explicit WideRow(const T (&row)[kStripColumns]) {
    constexpr int r = Taps::kRadius;
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) at[r + v] = row[v];
#pragma unroll
    for (int j = 0; j < r; ++j) {
      at[j] = __shfl_up_sync(~0u, row[kStripColumns - r + j], 1);
      at[r + kStripColumns + j] = __shfl_down_sync(~0u, row[j], 1);
    }
  }

  /// Replaces what lies outside a closed end.
  __device__ void mend(const TemporalAxis<T>& columns, bool low, bool high) {
    constexpr int r = Taps::kRadius, first = r, last = r + kStripColumns - 1;
#pragma unroll
    for (int j = 0; j < r; ++j) {
      const T below = stand_in(columns, 0, at[first], at[first + j], at[first + j + 1]);
      const T above = stand_in(columns, 1, at[last], at[last - j], at[last - j - 1]);
      at[first - 1 - j] = low ? below : at[first - 1 - j];
      at[last + 1 + j] = high ? above : at[last + 1 + j];
    }
  }

 private:
  __device__ static T stand_in(const TemporalAxis<T>& columns, int side, T nearest, T reflect, T mirror) {
    const T mapped = columns.mode[side] == TESSERA_BOUNDARY_NEAREST   ? nearest
                     : columns.mode[side] == TESSERA_BOUNDARY_REFLECT ? reflect
                                                                      : mirror;
    return columns.mode[side] == TESSERA_BOUNDARY_CONSTANT ? columns.value[side] : mapped;
  }
};

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

/// What an arriving row gives to one near an end of the axis beside what it gives to any: the rows outside for which
/// it stands, and when that row itself arrives, those that are constant. `k`: the row's sum.
template <class Taps, class T>
__device__ __forceinline__ void add_outside(const StripArguments<T>& g, int k, int arriving, unsigned outside,
                                            const WideRow<T, Taps>& wide, T (&sum)[kStripColumns]) {
  constexpr int r = Taps::kRadius;
#pragma unroll
  for (int offset = -r; offset <= r; ++offset) {
    if (offset == 0) continue;
    const T(&coefficients)[kTemporalSpan] = g.coefficients[offset + r];
    if (outside & RowEnds::bit(k, offset)) add_taps<Taps>(coefficients, false, wide, sum);
    if (k == r && !g.rows.holds(arriving + offset) && g.rows.constant(arriving + offset)) {
      WideRow<T, Taps> ghost = wide;
#pragma unroll
      for (T& value : ghost.at) value = g.rows.value[offset < 0 ? 0 : 1];
      add_taps<Taps>(coefficients, false, ghost, sum);
    }
  }
}

/// Adds an arriving row to all sums. `row` becomes the one that is complete. kColumns: a lane of the warp holds an end
/// of the columns' axis; kNear: an end of the rows' axis is near.
template <class Taps, bool kColumns, bool kNear, class T>
__device__ __forceinline__ void add_row(const StripArguments<T>& g, const StripLane& lane, int arriving,
                                        const WideRow<T, Taps>& wide, StripSums<T, Taps>& sums,
                                        T (&row)[kStripColumns]) {
  constexpr int r = Taps::kRadius;
  const unsigned outside = kNear ? g.row_ends.outside(arriving, g.rows.extent) : 0;
#pragma unroll
  for (int k = 0; k <= 2 * r; ++k) {
    T sum[kStripColumns];
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) sum[v] = k < 2 * r ? sums[k % (2 * r)][v] : T(0);
    add_taps<Taps>(g.coefficients[2 * r - k], k == r, wide, sum);
    if (kNear) add_outside<Taps>(g, k, arriving, outside, wide, sum);
    // A point that keeps its value has it from its own row, and gets nothing from the rows behind.
    const bool frozen = kNear && g.rows.frozen(arriving - r + k);
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      const bool keep =
          frozen || (kColumns && ((v < r && lane.keeps_low) || (v >= kStripColumns - r && lane.keeps_high)));
      if (k <= r && keep) sum[v] = k < r ? sums[k][v] : wide.at[r + v];
      (k == 0 ? row : sums[k == 0 ? 0 : k - 1])[v] = sum[v];
    }
  }
}

/// One step takes row `arriving` of the step before and gives one of its own, r rows behind. kRows: ends of the rows'
/// axis may be near.
template <class Taps, bool kColumns, bool kRows, class T>
__device__ __forceinline__ void step(const StripArguments<T>& g, const StripLane& lane, int arriving,
                                     StripSums<T, Taps>& sums, T (&row)[kStripColumns]) {
  constexpr int r = Taps::kRadius;
  WideRow<T, Taps> wide(row);
  if (kColumns) wide.mend(g.columns, lane.low, lane.high);
  if (kRows && g.rows.closed()) {
    if (arriving < 0) return;         // there is no such row
    if (arriving >= g.rows.extent) {  // nor such, but the last ones are complete
#pragma unroll
      for (int v = 0; v < kStripColumns; ++v) {
        row[v] = sums[0][v];
#pragma unroll
        for (int k = 1; k < 2 * r; ++k) sums[k - 1][v] = sums[k][v];
      }
      return;
    }
    if (arriving < g.rows.inner_begin() || arriving > g.rows.inner_last())
      return add_row<Taps, kColumns, true>(g, lane, arriving, wide, sums, row);
  }
  add_row<Taps, kColumns, false>(g, lane, arriving, wide, sums, row);
}

/// Writes a lane's points of a row. `vectors`: 16 bytes at a time.
template <class T>
__device__ __forceinline__ void put_row(const StripArguments<T>& g, const StripLane& lane, bool vectors,
                                        const T (&row)[kStripColumns], T* to) {
  constexpr int kVector = 16 / sizeof(T), kParts = kStripColumns / kVector;
  struct alignas(16) Vector {
    T at[kVector];
  };
  if (!vectors) {
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      const int column = lane.column + v;
      if (column >= lane.strip.from && column < lane.strip.to) to[column * g.target_strides[1]] = row[v];
    }
    return;
  }
  Vector parts[kParts];
#pragma unroll
  for (int v = 0; v < kStripColumns; ++v) parts[v / kVector].at[v % kVector] = row[v];
  int column = lane.column;
  if constexpr (kParts == 2) {
    // Lanes in pairs write the vectors of one, then of the other: whole sectors of 32 bytes.
    const bool odd = threadIdx.x % 2 != 0;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const T first = parts[0].at[i], second = parts[kParts - 1].at[i];
      const T received = __shfl_xor_sync(~0u, odd ? first : second, 1);
      parts[0].at[i] = odd ? received : first;
      parts[kParts - 1].at[i] = odd ? second : received;
    }
    column += odd ? kVector - kStripColumns : 0;
  }
#pragma unroll
  for (int part = 0; part < kParts; ++part, column += kStripColumns)
    if (column >= lane.strip.from && column < lane.strip.to) *reinterpret_cast<Vector*>(to + column) = parts[part];
}

/// What a warp computes. Strips at the ends of a closed axis take longer and come first.
template <class T>
__device__ __forceinline__ bool place_of_warp(const StripArguments<T>& g, int& strip, int& piece) {
  const unsigned unit = blockIdx.x;
  if (unit >= unsigned(g.strips) * unsigned(g.pieces)) return false;
  const unsigned ends = g.columns.closed() ? min(g.strips, 2) : 0, first = ends * unsigned(g.pieces);
  if (unit < first) {
    piece = int(unit / ends);
    strip = unit % ends == 0 ? 0 : g.strips - 1;
  } else {
    const unsigned inner = unsigned(g.strips) - ends;
    piece = int((unit - first) / inner);
    strip = int((unit - first) % inner + ends / 2);
  }
  return true;
}

/// kExact: passes of kDepth steps, else of g.depth, which is at most as many.
template <class T, class Taps, int kDepth, bool kExact>
__device__ __forceinline__ void temporal_strip(const StripArguments<T>& g, const T* source, T* target, T* ring) {
  constexpr int r = Taps::kRadius;
  int index, piece;
  if (!place_of_warp<T>(g, index, piece)) return;
  const int depth = kExact ? kDepth : g.depth;

  const StripLane lane(g, index);
  const bool vectors = g.target_vectors && (lane.strip.begin | lane.strip.from | lane.strip.to) % kStripColumns == 0;

  // The rows [out, out_end) need `depth * r` more on either side, as far as there are any.
  int out = piece * g.piece_rows;
  const int out_end = min(out + g.piece_rows, g.rows.extent), end = out_end + depth * r;
  int i = out - depth * r;
  if (g.rows.closed()) i = max(i, 0);
  // In [inner_begin, inner_end) no step is near an end of the axis.
  const int inner_begin = g.rows.closed() ? (depth - 1) * r + g.rows.inner_begin() : i;
  const int inner_end = g.rows.closed() ? min(g.rows.inner_last() + 1, end) : end;

  StripFeed<T> feed(g, lane, source, i, g.rows.closed() ? min(end, g.rows.extent) : end, ring);
  T* to = target + out * g.target_strides[0];
  StripSums<T, Taps> sums[kDepth] = {};

  const auto advance = [&]<bool kColumns, bool kRows>(std::bool_constant<kColumns>, std::bool_constant<kRows>) {
    T row[kStripColumns];
    feed.next(row);
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
    stencil_temporal_strip_kernel(const __grid_constant__ StripArguments<T> g, const T* __restrict__ source,
                                  T* __restrict__ target) {
  __shared__ __align__(16) T ring[kStripRing * kStripWidth];
  temporal_strip<T, Taps, kStripTuning<T, Taps>.depth, kExact>(g, source, target, ring);
}

template <class T>
StripKernels<T> find_strip_kernels(const TemporalTaps& taps) {
  const auto pair = []<class Taps>(Taps) {
    return StripKernels<T>{stencil_temporal_strip_kernel<T, Taps, true>, stencil_temporal_strip_kernel<T, Taps, false>};
  };
  if (taps.box) return pair(StripTaps<1, true>{});
  return taps.radius == 1 ? pair(StripTaps<1, false>{}) : pair(StripTaps<2, false>{});
}

}  // namespace tessera::cuda
