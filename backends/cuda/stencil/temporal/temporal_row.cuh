// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Rows of a tile in a warp, kLaneColumns neighbouring columns a lane. What the temporal kernels for 2D and for 3D
/// share.
#pragma once

#include "../../cp_async.cuh"
#include "../row_vector.cuh"
#include "temporal_kernels.hpp"

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// A tap list: all taps within the radius (box), or those on the axes (star).
template <int kRadius_, bool kBox_>
struct TapSet {
  static constexpr int kRadius = kRadius_;
  static constexpr bool kBox = kBox_;
  static constexpr int kSpan = 2 * kRadius + 1;
};

/// Neighbouring columns of a lane that are accessed at once: 16 bytes, or all of them.
template <class T>
inline constexpr int kLaneVector = kVectorWidth<T> < kLaneColumns ? kVectorWidth<T> : kLaneColumns;
template <class T>
using LaneVector = Vector<T, kLaneVector<T>>;

/// The columns of a lane.
struct LaneColumns {
  AxisTile tile;               ///< of the warp
  int column;                  ///< the lane's first
  bool low, high;              ///< the lane's first, its last column ends the axis
  bool keeps_low, keeps_high;  ///< its points within the taps' reach of that end keep their values

  template <class S>
  __device__ LaneColumns(const TemporalArguments<S>& g, int index)
      : tile(g.column_tiling.tile(index, g.column_tiles)),
        column(tile.begin + int(threadIdx.x) * kLaneColumns),
        low(tile.low && threadIdx.x == 0),
        high(tile.high && threadIdx.x == 31),
        keeps_low(low && g.columns.mode[0] == TESSERA_BOUNDARY_FIXED),
        keeps_high(high && g.columns.mode[1] == TESSERA_BOUNDARY_FIXED) {}

  /// Whether the tile can be written by vectors where the array can.
  __device__ bool aligned() const { return (tile.begin | tile.write_begin | tile.write_end) % kLaneColumns == 0; }
};

/// Loads a warp's input through a ring buffer in shared memory: planes of kRows rows each (in 2D of one row), one after
/// another along the sweep axis. A warp waits for its own copies alone.
template <class T, int kRows, int kStages>
class PlaneLoader {
  using S = Scalar<T>;

 public:
  static constexpr int kVector = kLaneVector<T>;
  static constexpr int kParts = kLaneColumns / kVector;
  static constexpr int kElements = kStages * kRows * kWarpColumns;  ///< of `ring`

  /// Planes [first, end) of the rows from `row` on.
  __device__ PlaneLoader(const TemporalArguments<S>& g, const LaneColumns& lane, const T* source, int row, int first,
                         int end, T* ring)
      : g_(g), source_(source), left_(end - first), ring_(ring), column_(lane.column) {
    row_ = kRows > 1 ? wrapped(row, g.rows.extent) : 0;
    const int extent = g.columns.extent, begin = lane.tile.begin;
    const bool wraps = begin < 0 || begin + kWarpColumns > extent;
    vectors_ = g.source_vectors && begin % kLaneColumns == 0 && (!wraps || extent % kLaneColumns == 0);
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      columns_[part] = wrapped(begin + (part * 32 + int(threadIdx.x)) * kVector, extent);
    plane_ = wrapped(first, g.sweep.extent);
    from_ = source + plane_ * g.source_strides[0];
#pragma unroll
    for (int i = 0; i < kStages - 1; ++i) load();
  }

  /// The next plane. Behind the last one the values are arbitrary. kExact: points may be frozen, and keep the bits of a
  /// NaN.
  template <bool kExact>
  __device__ void next(S (&rows)[kRows][kLaneColumns]) {
    cp_async_wait<kStages - 2>();
    __syncwarp();
    load();
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const T* vector = ring_ + (read_stage_ * kRows + j) * kWarpColumns + offset(threadIdx.x * kParts + part);
        widen<kExact>(*reinterpret_cast<const LaneVector<T>*>(vector), &rows[j][part * kVector]);
      }
    read_stage_ = (read_stage_ + 1) % kStages;
  }

 private:
  /// Of a vector in a row. The eight lanes that read at a time find theirs in different banks.
  __device__ static unsigned offset(unsigned vector) {
    return (kParts == 1 ? vector : vector ^ (vector >> 3 & 1)) * kVector;
  }

  __device__ static int wrapped(int index, int extent) { return (index % extent + extent) % extent; }

  /// Point by point, for rows that are not aligned. Not inlined: its registers would spill those of the steps.
  __device__ __noinline__ static void load_points(const T* row, std::int64_t stride, int column, int extent, T* to) {
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) {
      int from = column + v;
      if (from < 0 || from >= extent) from = wrapped(from, extent);
      cp_async<int(sizeof(T))>(shared_address(to + offset(threadIdx.x * kParts + v / kVector) + v % kVector),
                               row + from * stride, true);
    }
  }

  /// Starts the copies of a plane.
  __device__ void load() {
    if (left_ > 0) {
#pragma unroll
      for (int j = 0; j < kRows; ++j) {
        T* const to = ring_ + (write_stage_ * kRows + j) * kWarpColumns;
        const int row = row_ + j, extent = g_.rows.extent;  // at most once behind a periodic end
        const T* from = from_;
        if (kRows > 1) from += (row >= extent ? row - extent : row) * g_.source_strides[1];
        if (vectors_) {
#pragma unroll
          for (int part = 0; part < kParts; ++part)
            cp_async<int(sizeof(LaneVector<T>))>(shared_address(to + offset(part * 32 + threadIdx.x)),
                                                 from + columns_[part], true);
        } else {
          load_points(from, g_.source_strides[2], column_, g_.columns.extent, to);
        }
      }
      --left_;
      from_ += g_.source_strides[0];
      if (++plane_ == g_.sweep.extent) plane_ = 0, from_ = source_;
    }
    cp_async_commit();
    write_stage_ = (write_stage_ + 1) % kStages;
  }

  const TemporalArguments<S>& g_;
  const T* source_;
  const T* from_;  ///< the next plane
  int row_, plane_, left_;
  T* ring_;
  unsigned read_stage_ = 0, write_stage_ = 0;
  int columns_[kParts];  ///< of the vectors that the lane copies
  int column_;           ///< of its first own point, where it copies points
  bool vectors_;
};

/// A row of a lane with the columns of its neighbours that the taps read, as values.
template <class S, class Taps>
struct HaloRow {
  S at[kLaneColumns + 2 * Taps::kRadius];

  /// `neighbours`: also the columns of other lanes.
  __device__ void fill(const S (&row)[kLaneColumns], bool neighbours) {
    constexpr int r = Taps::kRadius;
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) at[r + v] = row[v];
    if (!neighbours) return;
#pragma unroll
    for (int j = 0; j < r; ++j) {
      at[j] = __shfl_up_sync(~0u, row[kLaneColumns - r + j], 1);
      at[r + kLaneColumns + j] = __shfl_down_sync(~0u, row[j], 1);
    }
  }

  /// Replaces what lies outside a closed end.
  __device__ void apply_boundary(const TemporalAxis<S>& columns, bool low, bool high) {
    constexpr int r = Taps::kRadius, first = r, last = r + kLaneColumns - 1;
#pragma unroll
    for (int j = 0; j < r; ++j) {
      const S below = value_outside(columns, 0, at[first], at[first + j], at[first + j + 1]);
      const S above = value_outside(columns, 1, at[last], at[last - j], at[last - j - 1]);
      at[first - 1 - j] = low ? below : at[first - 1 - j];
      at[last + 1 + j] = high ? above : at[last + 1 + j];
    }
  }

 private:
  __device__ static S value_outside(const TemporalAxis<S>& columns, int side, S nearest, S reflect, S mirror) {
    const S mapped = columns.mode[side] == TESSERA_BOUNDARY_NEAREST   ? nearest
                     : columns.mode[side] == TESSERA_BOUNDARY_REFLECT ? reflect
                                                                      : mirror;
    return columns.mode[side] == TESSERA_BOUNDARY_CONSTANT ? columns.value[side] : mapped;
  }
};

/// Point by point, for rows that are not aligned. Not inlined, as load_points.
template <class T>
__device__ __noinline__ void store_points(T* to, std::int64_t stride, int column, int begin, int end, Scalar<T> a,
                                          Scalar<T> b, Scalar<T> c, Scalar<T> d) {
  const Scalar<T> row[kLaneColumns] = {a, b, c, d};
#pragma unroll
  for (int v = 0; v < kLaneColumns; ++v)
    if (column + v >= begin && column + v < end) to[(column + v) * stride] = element_of<T>(row[v]);
}

/// Writes a lane's points of a row, whose values are those of elements. `vectors`: LaneVector at a time.
template <class T>
__device__ __forceinline__ void store_row(const TemporalArguments<Scalar<T>>& g, const LaneColumns& lane, bool vectors,
                                          const Scalar<T> (&row)[kLaneColumns], T* to) {
  constexpr int kVector = kLaneVector<T>, kParts = kLaneColumns / kVector;
  if (!vectors)
    return store_points(to, g.target_strides[2], lane.column, lane.tile.write_begin, lane.tile.write_end, row[0],
                        row[1], row[2], row[3]);
  LaneVector<T> parts[kParts];
#pragma unroll
  for (int part = 0; part < kParts; ++part) parts[part] = elements_of<T, kVector, true>(row + part * kVector);
  int column = lane.column;
  if constexpr (kParts == 2) {
    // Lanes in pairs write the vectors of one, then of the other: whole sectors of 32 bytes.
    const bool odd = threadIdx.x % 2 != 0;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const T first = parts[0].value[i], second = parts[kParts - 1].value[i];
      const T received = __shfl_xor_sync(~0u, odd ? first : second, 1);
      parts[0].value[i] = odd ? received : first;
      parts[kParts - 1].value[i] = odd ? second : received;
    }
    column += odd ? kVector - kLaneColumns : 0;
  }
#pragma unroll
  for (int part = 0; part < kParts; ++part, column += kLaneColumns)
    if (column >= lane.tile.write_begin && column < lane.tile.write_end)
      *reinterpret_cast<LaneVector<T>*>(to + column) = parts[part];
}

/// What a block computes of the sweep axis: it writes the rows (in 3D: planes) of its chunk, and reads what the pass
/// reaches on either side of them, as far as that exists.
struct SweepRange {
  int out;                     ///< the first row that is written
  int begin, end;              ///< input rows [begin, end)
  int inner_begin, inner_end;  ///< for input rows between these no step is near an end of the axis

  template <class S>
  __device__ __forceinline__ SweepRange(const TemporalArguments<S>& g, int chunk, int depth, int radius) {
    out = chunk * g.chunk;
    const int out_end = min(out + g.chunk, g.sweep.extent);
    end = out_end + depth * radius;
    begin = out - depth * radius;
    if (g.sweep.closed()) begin = max(begin, 0);
    inner_begin = g.sweep.closed() ? (depth - 1) * radius + g.sweep.inner_begin() : begin;
    inner_end = g.sweep.closed() ? min(g.sweep.inner_last() + 1, end) : end;
  }

  /// Input rows from here on do not exist.
  template <class S>
  __device__ __forceinline__ int load_end(const TemporalArguments<S>& g) const {
    return g.sweep.closed() ? min(end, g.sweep.extent) : end;
  }
};

}  // namespace tessera::cuda
