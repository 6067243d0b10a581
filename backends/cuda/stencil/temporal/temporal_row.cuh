// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Rows of a strip in a warp: kStripColumns neighbouring columns a lane. What the temporal kernels for two and for
/// three axes share.
#pragma once

#include "../../cp_async.cuh"
#include "temporal_kernels.hpp"
#include "../vector.cuh"

#include <cstdint>

namespace tessera::cuda {

/// A tap list: all taps within the radius (box), or those on the axes (star).
template <int kRadius_, bool kBox_>
struct TapSet {
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
  __device__ StripLane(const TemporalArguments<T>& g, int index)
      : strip(g.column_cut.strip(index, g.strips)),
        column(strip.begin + int(threadIdx.x) * kStripColumns),
        low(strip.low && threadIdx.x == 0),
        high(strip.high && threadIdx.x == 31),
        keeps_low(low && g.columns.mode[0] == TESSERA_BOUNDARY_FIXED),
        keeps_high(high && g.columns.mode[1] == TESSERA_BOUNDARY_FIXED) {}
};

/// A strip's input on its way through shared memory: planes of kRows rows each (with two axes: of one row), as they
/// follow along the axis of the stream. A warp waits for its own copies alone.
template <class T, int kRows, int kRing>
class StripFeed {
 public:
  static constexpr int kVector = 16 / sizeof(T);
  static constexpr int kParts = kStripColumns / kVector;
  static constexpr int kElements = kRing * kRows * kStripWidth;  ///< of `ring`

  /// Planes [first, end) of the rows from `row` on.
  __device__ StripFeed(const TemporalArguments<T>& g, const StripLane& lane, const T* source, int row, int first,
                       int end, T* ring)
      : g_(g), source_(source), left_(end - first), ring_(ring), column_(lane.column) {
    row_ = kRows > 1 ? wrapped(row, g.rows.extent) : 0;
    const int extent = g.columns.extent, begin = lane.strip.begin;
    const bool wraps = begin < 0 || begin + kStripWidth > extent;
    vectors_ = g.source_vectors && begin % kStripColumns == 0 && (!wraps || extent % kStripColumns == 0);
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      columns_[part] = wrapped(begin + (part * 32 + int(threadIdx.x)) * kVector, extent);
    plane_ = wrapped(first, g.stream.extent);
    from_ = source + plane_ * g.source_strides[0];
#pragma unroll
    for (int i = 0; i < kRing - 1; ++i) start();
  }

  /// The next plane. Behind the last one: anything.
  __device__ void next(T (&rows)[kRows][kStripColumns]) {
    cp_async_wait<kRing - 2>();
    __syncwarp();
    start();
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const T* vector = ring_ + (reading_ * kRows + j) * kStripWidth + place(threadIdx.x * kParts + part);
#pragma unroll
        for (int i = 0; i < kVector; ++i) rows[j][part * kVector + i] = vector[i];
      }
    reading_ = (reading_ + 1) % kRing;
  }

 private:
  /// Of a vector in a row. Eight lanes that read at a time find theirs in different banks.
  __device__ static unsigned place(unsigned vector) {
    return (kParts == 1 ? vector : vector ^ (vector >> 3 & 1)) * kVector;
  }

  __device__ static int wrapped(int index, int extent) { return (index % extent + extent) % extent; }

  /// Point by point, for what is not aligned. Not inlined: its registers would spill those of the steps.
  __device__ __noinline__ static void copy_points(const T* row, std::int64_t stride, int column, int extent, T* to) {
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      int from = column + v;
      if (from < 0 || from >= extent) from = wrapped(from, extent);
      cp_async<sizeof(T)>(shared_address(to + place(threadIdx.x * kParts + v / kVector) + v % kVector),
                          row + from * stride, true);
    }
  }

  __device__ void start() {
    if (left_ > 0) {
#pragma unroll
      for (int j = 0; j < kRows; ++j) {
        T* const to = ring_ + (writing_ * kRows + j) * kStripWidth;
        const int row = row_ + j, extent = g_.rows.extent;  // at most once behind a periodic end
        const T* from = from_;
        if (kRows > 1) from += (row >= extent ? row - extent : row) * g_.source_strides[1];
        if (vectors_) {
#pragma unroll
          for (int part = 0; part < kParts; ++part)
            cp_async<16>(shared_address(to + place(part * 32 + threadIdx.x)), from + columns_[part], true);
        } else {
          copy_points(from, g_.source_strides[2], column_, g_.columns.extent, to);
        }
      }
      --left_;
      from_ += g_.source_strides[0];
      if (++plane_ == g_.stream.extent) plane_ = 0, from_ = source_;
    }
    cp_async_commit();
    writing_ = (writing_ + 1) % kRing;
  }

  const TemporalArguments<T>& g_;
  const T* source_;
  const T* from_;  ///< the next plane
  int row_, plane_, left_;
  T* ring_;
  unsigned reading_ = 0, writing_ = 0;
  int columns_[kParts];  ///< of the vectors that the lane copies
  int column_;           ///< of its first own point, where it copies these
  bool vectors_;
};

/// A row of a lane with the neighbours' columns that its taps read.
template <class T, class Taps>
struct WideRow {
  T at[kStripColumns + 2 * Taps::kRadius];

  /// `neighbours`: also the columns of other lanes.
  __device__ void fill(const T (&row)[kStripColumns], bool neighbours) {
    constexpr int r = Taps::kRadius;
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) at[r + v] = row[v];
    if (!neighbours) return;
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

/// Point by point, for what is not aligned. Not inlined, as copy_points.
template <class T>
__device__ __noinline__ void put_points(T* to, std::int64_t stride, int column, int from, int end, T a, T b, T c, T d) {
  const T row[kStripColumns] = {a, b, c, d};
#pragma unroll
  for (int v = 0; v < kStripColumns; ++v)
    if (column + v >= from && column + v < end) to[(column + v) * stride] = row[v];
}

/// Writes a lane's points of a row. `vectors`: 16 bytes at a time.
template <class T>
__device__ __forceinline__ void put_row(const TemporalArguments<T>& g, const StripLane& lane, bool vectors,
                                        const T (&row)[kStripColumns], T* to) {
  using Vector = PointVector<T>;
  constexpr int kVector = Vector::kCount, kParts = kStripColumns / kVector;
  if (!vectors)
    return put_points(to, g.target_strides[2], lane.column, lane.strip.from, lane.strip.to, row[0], row[1], row[2],
                      row[3]);
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

}  // namespace tessera::cuda
