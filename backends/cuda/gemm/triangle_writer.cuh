// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a block's tile become elements of a triangle of D, and of the other side of a mirrored one: through
/// shared memory.
#pragma once

#include "tile_writer.cuh"
#include "triangle_tiles.hpp"

#include <cstdint>

namespace tessera::cuda {

/// A tile of a triangle: where the diagonal cuts its rows.
struct TriangleCut {
  int rows, columns;  ///< of the tile, that exist
  int offset;         ///< the diagonal's column in row 0
  bool upper;

  __device__ TriangleCut(const TriangleTiles& triangle, const GemmTile& place, int existing_rows, int existing_columns)
      : rows(existing_rows), columns(existing_columns), upper(triangle.upper) {
    constexpr std::int64_t kFar = 1 << 16;  // beyond a tile
    offset = int(max(min(place.row - place.column, kFar), -kFar));
  }
  /// The columns from `column` on, before `end`, that belong to it.
  __device__ __forceinline__ int begin(int row, int column) const { return upper ? max(column, row + offset) : column; }
  __device__ __forceinline__ int end(int row, int past) const {
    return min(upper ? past : min(past, row + offset + 1), columns);
  }
};

/// Neighbours from `first` on, of which those from `begin` to `end` are written; all are at a multiple of their size
/// where `vectors` says so.
template <int kWidth, class T>
__device__ __forceinline__ void write_some(const Elements<T>& to, const Vector<Scalar<T>, kWidth>& values, int first,
                                           int begin, int end, bool vectors) {
  if (vectors && begin == first && end == first + kWidth) return to.write(values);
#pragma unroll
  for (int e = 0; e < kWidth; ++e)
    if (first + e >= begin && first + e < end) (to + e).write(Vector<Scalar<T>, 1>{{values.value[e]}});
}

/// The other side of a lower triangle: what a block has of a tile in shared memory, by rows of D that are the tile's
/// columns. A cluster's block has so many neighbouring rows, every so many.
template <class Core, int kRows, int kPitch>
__device__ __forceinline__ void write_other_side(const typename Core::Sum* tile, int blocks, int rank,
                                                 const GemmArguments<typename Core::T>& g, const GemmTile& place,
                                                 const TriangleCut& cut) {
  using T = typename Core::T;
  constexpr int kWidth = kResultWidth<Core> < kRows ? kResultWidth<Core> : kRows;
  const Elements<T> to = g.d + (place.batch * g.stride_d + place.column * g.ldd + place.row);
  const bool vectors = to.template at_vector<kWidth>() && g.ldd % kWidth == 0;
  const int rows = blocks == 1 ? Core::kM : kRows, across = rows / kWidth;
  __syncthreads();  // all have finished their elements
#pragma unroll 1
  for (int first = rank * kRows; first < cut.rows; first += blocks * rows)
#pragma unroll 1
    for (int i = int(threadIdx.x); i < cut.columns * across; i += Core::kThreads) {
      const int column = i / across, row = first + i % across * kWidth;
      Vector<Scalar<T>, kWidth> values;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) values.value[e] = tile[(row + e) * kPitch + column];
      write_some(to + (column * g.ldd + row), values, row, max(row, column - cut.offset), min(row + kWidth, cut.rows),
                 vectors);
    }
}

/// As write_result(), what belongs to a triangle.
template <class Core, bool kCluster>
__device__ __forceinline__ void write_triangle(const Core& core, typename Core::Sum* shared, int blocks,
                                               typename Core::Sum zero, const TileTarget<typename Core::T>& target,
                                               const GemmArguments<typename Core::T>& g, const GemmTile& place,
                                               const TriangleTiles& triangle) {
  using T = typename Core::T;
  constexpr int kPitch = kResultPitch<Core>, kWidth = kResultWidth<Core>;
  constexpr int kAcross = Core::kN / kWidth < Core::kThreads ? Core::kN / kWidth : Core::kThreads;
  constexpr int kRows = Core::kThreads / kAcross;  // that the block's threads take at once
  using Segment = Vector<Scalar<T>, kWidth>;
  share_tile<kCluster, kPitch>(core, shared, zero);
  const TileSharers<kCluster, true> sharers(blocks);
  const Finish<T> finish = g.finish.at(place.batch, place.row, place.column);
  const TriangleCut cut(triangle, place, target.rows, target.columns);
  const bool vectors = target.template aligned<kWidth>();
#pragma unroll 1
  for (int column = int(threadIdx.x) % kAcross * kWidth; column < target.columns; column += kAcross * kWidth)
#pragma unroll 1
    for (int row = sharers.rank * kRows + int(threadIdx.x) / kAcross; row < target.rows;
         row += sharers.blocks * kRows) {
      const int begin = cut.begin(row, column), end = cut.end(row, column + kWidth);
      if (begin >= end) continue;
      const bool whole = vectors && begin == column && end == column + kWidth;
      Segment c = whole ? target.template read<kWidth>(row, column) : Segment{};
      if (!whole)
#pragma unroll
        for (int e = 0; e < kWidth; ++e)
          if (column + e >= begin && column + e < end) c.value[e] = target.template read<1>(row, column + e).value[0];
      auto* const in_tile = shared + row * kPitch + column;
      Segment values = target.epilogue(sharers.template sums_at<kWidth>(in_tile), c);
      if (finish.bias)
#pragma unroll
        for (int e = 0; e < kWidth; ++e)
          if (column + e < end) values.value[e] += finish.bias_at(finish.per_row ? row : column + e);
      finish.activate_all(values.value);
      if (triangle.mirrored) *reinterpret_cast<Segment*>(in_tile) = values;
      write_some(target.d + (row * target.ldd + column), values, column, begin, end, vectors);
    }
  if (triangle.mirrored) write_other_side<Core, kRows, kPitch>(shared, sharers.blocks, sharers.rank, g, place, cut);
  if constexpr (kCluster) synchronize_tile<kCluster>();  // nobody leaves while others read its sums
}

}  // namespace tessera::cuda
