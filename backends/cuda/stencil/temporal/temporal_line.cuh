// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over a domain of one axis. A warp takes a tile, many neighbouring points a lane, reads it
/// once, advances it by all steps of the pass in registers, and writes what its neighbours' points cannot have reached.
/// A step is its multiply-adds and a shuffle for each neighbour that a lane's taps read. No warp waits for another.
#pragma once

#include "../../cp_async.cuh"
#include "../row_vector.cuh"
#include "temporal_axis.hpp"
#include "temporal_line.hpp"

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// S: the type of values.
template <class S, int kRadius>
struct LineArguments {
  S coefficients[2 * kRadius + 1];
  TemporalAxis<S> axis;
  AxisTiling tiling;
  int tiles, depth;
  std::int64_t source_stride, target_stride;
  bool source_vectors, target_vectors;  ///< 16 bytes at a time are possible at multiples of a vector
};

/// A tile's points on their way between device memory, whose accesses are contiguous over the lanes of a warp, and the
/// lanes' own points.
template <class T, int kPoints>
class LineTile {
  using S = Scalar<T>;

 public:
  static constexpr int kVector = kVectorWidth<T>, kLaneVectors = kPoints / kVector, kVectors = 32 * kLaneVectors;
  static constexpr int kElements = 32 * kPoints;  ///< of `shared`

  __device__ LineTile(const AxisTile& tile, int extent, T* shared) : tile_(tile), extent_(extent), shared_(shared) {
    static_assert(kLaneVectors % 8 == 0, "lanes that access shared memory at a time find their vectors in all banks");
  }

  __device__ void read(const T* source, std::int64_t stride, bool vectors, S (&points)[kPoints]) const {
    const bool wraps = tile_.begin < 0 || tile_.begin + kElements > extent_;
    if (vectors && tile_.begin % kVector == 0 && (!wraps || extent_ % kVector == 0)) {
#pragma unroll 1
      for (int v = int(threadIdx.x); v < kVectors; v += 32)
        cp_async<16>(shared_address(slot(v)), source + wrapped(tile_.begin + v * kVector, wraps), true);
    } else {
      constexpr int kUnroll = sizeof(T) < 4 ? 8 : 1;  // these are ordinary loads, several of them under way
#pragma unroll kUnroll
      for (int i = int(threadIdx.x); i < kElements; i += 32)
        cp_async<int(sizeof(T))>(shared_address(point(i)), source + wrapped(tile_.begin + i, wraps) * stride, true);
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncwarp();
#pragma unroll
    for (int v = 0; v < kLaneVectors; ++v) {
      const RowVector<T> vector = *slot(int(threadIdx.x) * kLaneVectors + v);
      if (kNarrow<T> && (tile_.low || tile_.high))
        widen<true>(vector, points + v * kVector);  // points may be frozen, and keep the bits of a NaN
      else
        widen(vector, points + v * kVector);
    }
  }

  /// Of values that are those of elements.
  __device__ void write(const S (&points)[kPoints], T* target, std::int64_t stride, bool vectors) const {
#pragma unroll
    for (int v = 0; v < kLaneVectors; ++v)
      *slot(int(threadIdx.x) * kLaneVectors + v) = elements_of<T, kVector, true>(points + v * kVector);
    __syncwarp();
    const int first = tile_.write_begin - tile_.begin, end = tile_.write_end - tile_.begin;
    T* const begin = target + tile_.begin * stride;
    if (vectors && (tile_.begin | tile_.write_begin | tile_.write_end) % kVector == 0) {
#pragma unroll 4
      for (int v = first / kVector + int(threadIdx.x); v < end / kVector; v += 32)
        *reinterpret_cast<RowVector<T>*>(begin + v * kVector) = *slot(v);
    } else {
#pragma unroll 4
      for (int i = first + int(threadIdx.x); i < end; i += 32) begin[i * stride] = *point(i);
    }
  }

 private:
  /// Of a vector of the tile. Eight lanes that access theirs at a time find them in different banks.
  __device__ RowVector<T>* slot(int v) const {
    return reinterpret_cast<RowVector<T>*>(shared_) + (v ^ (v / kLaneVectors % 8));
  }
  __device__ T* point(int i) const { return slot(i / kVector)->value + i % kVector; }

  __device__ std::int64_t wrapped(int i, bool wraps) const {
    if (wraps && (i < 0 || i >= extent_)) i = (i % extent_ + extent_) % extent_;
    return i;
  }

  const AxisTile& tile_;
  int extent_;
  T* shared_;
};

/// Finds what lies outside a closed end as far as taps read. `inwards`: the points from the end on.
template <class S, int kRadius>
__device__ __forceinline__ void apply_line_boundary(const TemporalAxis<S>& axis, int side,
                                                    const S (&inwards)[kRadius + 1], S (&outwards)[kRadius]) {
#pragma unroll
  for (int j = 0; j < kRadius; ++j)
    outwards[j] = axis.mode[side] == TESSERA_BOUNDARY_CONSTANT  ? axis.value[side]
                  : axis.mode[side] == TESSERA_BOUNDARY_NEAREST ? inwards[0]
                  : axis.mode[side] == TESSERA_BOUNDARY_REFLECT ? inwards[j]
                                                                : inwards[j + 1];
}

/// A step of a lane's points, which have the values of elements T before and after it. `low`, `high`: the first, the
/// last of them ends a closed axis; kEnds: that may be so of a lane of the warp.
template <class T, bool kEnds, class S, int kRadius, int kPoints>
__device__ __forceinline__ void line_step(const LineArguments<S, kRadius>& g, bool low, bool high,
                                          S (&points)[kPoints]) {
  S below[kRadius], above[kRadius];  // beginning with the nearest
#pragma unroll
  for (int j = 0; j < kRadius; ++j) {
    below[j] = __shfl_up_sync(~0u, points[kPoints - 1 - j], 1);
    above[j] = __shfl_down_sync(~0u, points[j], 1);
  }
  if constexpr (kEnds) {
    S first[kRadius + 1], last[kRadius + 1];
#pragma unroll
    for (int j = 0; j <= kRadius; ++j) first[j] = points[j], last[j] = points[kPoints - 1 - j];
    if (low) apply_line_boundary(g.axis, 0, first, below);
    if (high) apply_line_boundary(g.axis, 1, last, above);
  }
  // Each point is added to all sums that read it, which completes the sum `kRadius` before it. So a sum takes the
  // register of a point that no other sum reads.
  S sums[kPoints];
#pragma unroll
  for (int i = -kRadius; i < kPoints + kRadius; ++i) {
    const S point = i < 0 ? below[i < 0 ? -1 - i : 0] : i < kPoints ? points[i < kPoints ? i : 0] : above[i - kPoints];
#pragma unroll
    for (int offset = kRadius; offset >= -kRadius; --offset) {
      const int of = i - offset;
      if (of >= 0 && of < kPoints)
        sums[of] = fma(g.coefficients[offset + kRadius], point, offset == -kRadius ? S(0) : sums[of]);
    }
  }
  round_values<T>(sums);
  const bool keeps_low = kEnds && low && g.axis.mode[0] == TESSERA_BOUNDARY_FIXED;
  const bool keeps_high = kEnds && high && g.axis.mode[1] == TESSERA_BOUNDARY_FIXED;
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
    const bool keep = (i < kRadius && keeps_low) || (i >= kPoints - kRadius && keeps_high);
    points[i] = keep ? points[i] : sums[i];
  }
}

template <class T, int kRadius, int kPoints, int kWarps>
__device__ __forceinline__ void temporal_line(const LineArguments<Scalar<T>, kRadius>& g, const T* source, T* target,
                                              T* shared) {
  const int index = int(blockIdx.x) * kWarps + int(threadIdx.y);
  if (index >= g.tiles) return;
  const AxisTile extent = g.tiling.tile(index, g.tiles);
  const LineTile<T, kPoints> tile(extent, g.axis.extent, shared);
  Scalar<T> points[kPoints];
  tile.read(source, g.source_stride, g.source_vectors, points);
  if (extent.low || extent.high) {
    const bool low = extent.low && threadIdx.x == 0, high = extent.high && threadIdx.x == 31;
#pragma unroll 1
    for (int step = 0; step < g.depth; ++step) line_step<T, true>(g, low, high, points);
  } else {
#pragma unroll 1
    for (int step = 0; step < g.depth; ++step) line_step<T, false>(g, false, false, points);
  }
  tile.write(points, target, g.target_stride, g.target_vectors);
}

}  // namespace tessera::cuda
