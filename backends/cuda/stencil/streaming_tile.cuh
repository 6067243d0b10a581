// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of the streaming algorithm: a thread computes a small tile of points in registers.
///
/// A row of the input is read once for all of the tile's rows that need it, in 16-byte pieces where its layout allows;
/// neighbouring threads' pieces overlap, and the caches serve the repeats. Threads are short and the grid is as
/// large as the domain, which keeps the memory busiest. A warp whose tiles lie within the box of plain points does just
/// that; the others resolve the boundary axis by axis.
#pragma once

#include "axis_sample.cuh"
#include "geometry.hpp"
#include "tap_shape.hpp"
#include "unrolled.cuh"
#include "vector.cuh"

namespace tessera::cuda {

/// A thread's and a block's part. A thread has kColumns vectors of kWidth points in each of its rows; they lie kApart
/// points apart, so that a warp's accesses are contiguous.
template <int kWidthOf, int kColumnsOf, int kRowsOf, int kPlanesOf, int kThreadsXOf, int kThreadsYOf, int kThreadsZOf,
          int kBlocksOf>
struct StreamingTile {
  static constexpr int kWidth = kWidthOf, kColumns = kColumnsOf, kRows = kRowsOf, kPlanes = kPlanesOf;
  static constexpr int kThreadsX = kThreadsXOf, kThreadsY = kThreadsYOf, kThreadsZ = kThreadsZOf;
  static constexpr int kThreads = kThreadsX * kThreadsY * kThreadsZ;
  static constexpr int kBlocks = kBlocksOf;  ///< that a multiprocessor should hold
  static constexpr int kApart = kThreadsX * kWidth;
  static constexpr int kPointsX = kApart * kColumns, kPointsY = kRows * kThreadsY, kPointsZ = kPlanes * kThreadsZ;
};

template <class T, class Shape>
struct StreamingTileArguments {
  SweepGeometry geometry;
  std::int64_t first[2];       ///< where the launch begins on axes 0 and 1
  std::int64_t interior_x[2];  ///< a thread's first points that leave all it reads inside the rows
  T coefficient[Shape::kCount];
};

/// kPlanes x kRows vectors of plain points from `source` on.
template <class Tile, class T, class Shape>
__device__ __forceinline__ void plain_tile(const StreamingTileArguments<T, Shape>& g, const T* source, T* target) {
  constexpr int kPlanes = Tile::kPlanes, kRows = Tile::kRows, kWidth = Tile::kWidth, kRadius = Shape::kRadius;
  constexpr int kBeside = (kRadius + kWidth - 1) / kWidth;
  T sum[kPlanes][kRows][kWidth] = {};
  unrolled<-Shape::reach(0), kPlanes + Shape::reach(0)>([&](auto constant_z) {
    unrolled<-Shape::reach(1), kRows + Shape::reach(1)>([&](auto constant_y) {
      constexpr int kZ = decltype(constant_z)::value, kY = decltype(constant_y)::value;
      constexpr bool kBesides = reads_row<Shape>(kPlanes, kRows, kZ, kY, true);
      if constexpr (kBesides || reads_row<Shape>(kPlanes, kRows, kZ, kY, false)) {
        const T* const row = source + kZ * g.geometry.source_strides[0] + kY * g.geometry.source_strides[1];
        T value[(2 * kBeside + 1) * kWidth];
#pragma unroll
        for (int piece = -kBeside; piece <= kBeside; ++piece)
          if (piece == 0 || kBesides) load_vector<kWidth>(row + piece * kWidth, value + (kBeside + piece) * kWidth);
#pragma unroll
        for (int plane = 0; plane < kPlanes; ++plane)
#pragma unroll
          for (int j = 0; j < kRows; ++j)
#pragma unroll
            for (int x = kBesides ? -kRadius : 0; x <= (kBesides ? kRadius : 0); ++x) {
              const int place = Shape::place(kZ - plane, kY - j, x);
              if (place < 0) continue;
#pragma unroll
              for (int i = 0; i < kWidth; ++i)
                sum[plane][j][i] = fma(g.coefficient[place], value[kBeside * kWidth + i + x], sum[plane][j][i]);
            }
      }
    });
  });
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane)
#pragma unroll
    for (int j = 0; j < kRows; ++j)
      store_vector<kWidth>(target + plane * g.geometry.target_strides[0] + j * g.geometry.target_strides[1],
                           sum[plane][j]);
}

/// One vector of points, any of which may be near the boundary or outside the domain.
template <int kWidth, class T, class Shape>
__device__ __forceinline__ void edge_vector(const StreamingTileArguments<T, Shape>& g, const T* source, T* target,
                                            std::int64_t i0, std::int64_t i1, std::int64_t i2) {
  const plugin::Domain& domain = g.geometry.domain;
  constexpr int kRadius = Shape::kRadius, kCells = kWidth + 2 * kRadius;
  constexpr int kRowsAtOnce = kRadius <= 2 ? 2 * Shape::reach(1) + 1 : 3;
  if (i0 >= domain.extents[0] || i1 >= domain.extents[1] || i2 >= domain.extents[2]) return;

  std::int64_t index[kCells];  // of a cell in its row
  unsigned valued = 0;         // a bit a cell: it is the constant of a side, or nothing
#pragma unroll
  for (int cell = 0; cell < kCells; ++cell) {
    const AxisSample x = sample_axis(domain, 2, i2 + cell - kRadius);
    index[cell] = x.index;
    if (x.found != Found::point) valued |= 1u << cell;
  }

  T sum[kWidth] = {};
#pragma unroll 1
  for (int dz = -Shape::reach(0); dz <= Shape::reach(0); ++dz) {
    const AxisSample z = sample_axis(domain, 0, i0 + dz);
#pragma unroll kRowsAtOnce
    for (int dy = -Shape::reach(1); dy <= Shape::reach(1); ++dy) {
      const bool beside = Shape::kPattern == TapPattern::box || (dz == 0 && dy == 0);
      if (!beside && dz != 0 && dy != 0) continue;
      const AxisSample y = sample_axis(domain, 1, i1 + dy);
      const bool real = z.found == Found::point && y.found == Found::point;
      const T row_value =
          z.found != Found::point ? axis_value<T>(domain, 0, z.found) : axis_value<T>(domain, 1, y.found);
      const T* const row = source + z.index * g.geometry.source_strides[0] + y.index * g.geometry.source_strides[1];
#pragma unroll
      for (int cell = 0; cell < kCells; ++cell) {
        if (!beside && (cell < kRadius || cell >= kRadius + kWidth)) continue;
        T value = row_value;
        if (real && (valued >> cell & 1) != 0)
          value = axis_value<T>(domain, 2, sample_axis(domain, 2, i2 + cell - kRadius).found);
        else if (real)
          value = __ldg(row + index[cell]);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const int dx = cell - kRadius - i;
          if (dx < -kRadius || dx > kRadius || (!beside && dx != 0)) continue;
          const int place = Shape::place(dz, dy, dx);
          if (place >= 0) sum[i] = fma(g.coefficient[place], value, sum[i]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (i2 + i >= domain.extents[2]) continue;
    const T result = domain.frozen(i0, i1, i2 + i) ? source[g.geometry.source_index(i0, i1, i2 + i)] : sum[i];
    target[g.geometry.target_index(i0, i1, i2 + i)] = result;
  }
}

struct GridPoint {
  std::int64_t i0, i1, i2;
};

/// The first of a thread's points.
template <class Tile, class T, class Shape>
__device__ __forceinline__ GridPoint first_point(const StreamingTileArguments<T, Shape>& g) {
  return {Shape::kRank < 3 ? 0 : g.first[0] + std::int64_t(blockIdx.z) * Tile::kPointsZ + threadIdx.z * Tile::kPlanes,
          Shape::kRank < 2 ? 0 : g.first[1] + std::int64_t(blockIdx.y) * Tile::kPointsY + threadIdx.y * Tile::kRows,
          std::int64_t(blockIdx.x) * Tile::kPointsX + threadIdx.x * Tile::kWidth};
}

/// The points of a thread that are not all plain. Out of line and computing its place anew, since what a caller keeps
/// for a call costs all warps: spilled registers here cost those near the boundary alone.
template <class Tile, class T, class Shape>
__device__ __noinline__ void edge_tile(const StreamingTileArguments<T, Shape>& g, const T* source, T* target) {
  const GridPoint point = first_point<Tile>(g);
#pragma unroll 1
  for (int vector = 0; vector < Tile::kPlanes * Tile::kRows * Tile::kColumns; ++vector) {
    const int row = vector / Tile::kColumns, column = vector % Tile::kColumns;
    edge_vector<Tile::kWidth>(g, source, target, point.i0 + row / Tile::kRows, point.i1 + row % Tile::kRows,
                              point.i2 + column * Tile::kApart);
  }
}

/// The body of the kernels.
template <class Tile, class T, class Shape>
__device__ __forceinline__ void streaming_tile(const StreamingTileArguments<T, Shape>& g, const T* source, T* target) {
  const SweepGeometry& geometry = g.geometry;
  const auto [i0, i1, i2] = first_point<Tile>(g);
  const bool plain_1 = Shape::kRank < 2 || (i1 >= geometry.plain[1][0] && i1 + Tile::kRows <= geometry.plain[1][1]);
  const bool plain_0 = Shape::kRank < 3 || (i0 >= geometry.plain[0][0] && i0 + Tile::kPlanes <= geometry.plain[0][1]);
  const bool interior = i2 >= g.interior_x[0] && i2 < g.interior_x[1] && plain_1 && plain_0;
  if (!__all_sync(~0u, interior)) return edge_tile<Tile>(g, source, target);

  source += i2 + (Shape::kRank < 2 ? 0 : i1 * geometry.source_strides[1]) +
            (Shape::kRank < 3 ? 0 : i0 * geometry.source_strides[0]);
  target += i2 + (Shape::kRank < 2 ? 0 : i1 * geometry.target_strides[1]) +
            (Shape::kRank < 3 ? 0 : i0 * geometry.target_strides[0]);
#pragma unroll
  for (int column = 0; column < Tile::kColumns; ++column)
    plain_tile<Tile>(g, source + column * Tile::kApart, target + column * Tile::kApart);
}

}  // namespace tessera::cuda
