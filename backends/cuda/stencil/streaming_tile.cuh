// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of the streaming algorithm: a thread computes a small tile of points in registers.
///
/// A row of the input is read once for all of the tile's rows that need it, in 16-byte pieces where its layout allows;
/// neighbouring threads' pieces overlap, and the caches serve the repeats. Threads are short and the grid is as
/// large as the domain, which keeps the memory busiest. Points near the boundary have a kernel of their own, a vector a
/// thread, which resolves the boundary axis by axis: its registers and its slower threads cost the interior nothing.
#pragma once

#include "axis_sample.cuh"
#include "geometry.hpp"
#include "tap_shape.hpp"
#include "unrolled.cuh"
#include "vector.cuh"

namespace tessera::cuda {

/// A thread's and a block's part. A thread has kColumns vectors of kWidth points in each of its rows; they lie kApart
/// points apart, so that a warp's accesses are contiguous.
template <int kWidthOf, int kColumnsOf, int kRowsOf, int kPlanesOf, int kThreadsXOf, int kThreadsYOf, int kThreadsZOf>
struct StreamingTile {
  static constexpr int kWidth = kWidthOf, kColumns = kColumnsOf, kRows = kRowsOf, kPlanes = kPlanesOf;
  static constexpr int kThreadsX = kThreadsXOf, kThreadsY = kThreadsYOf, kThreadsZ = kThreadsZOf;
  static constexpr int kThreads = kThreadsX * kThreadsY * kThreadsZ;
  static constexpr int kApart = kThreadsX * kWidth;
  static constexpr int kPointsX = kApart * kColumns, kPointsY = kRows * kThreadsY, kPointsZ = kPlanes * kThreadsZ;
};

/// Points from `begin` up to `end` on each axis.
struct PointBox {
  std::int64_t begin[plugin::kAxes], end[plugin::kAxes];
};

template <class T, class Shape>
struct StreamingTileArguments {
  SweepGeometry geometry;
  PointBox interior;      ///< whole tiles of plain points, all that they read inside the rows
  std::int64_t first[2];  ///< where the launch begins on axes 0 and 1
  T coefficient[Shape::kCount];
};

/// The points around the interior, in boxes, by vectors.
struct StreamingShell {
  static constexpr int kBoxes = 2 * plugin::kAxes, kThreads = 128;
  PointBox box[kBoxes];
  std::int64_t vectors[kBoxes];
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
  AxisSample x[kCells];
#pragma unroll
  for (int cell = 0; cell < kCells; ++cell) x[cell] = sample_axis(domain, 2, i2 + cell - kRadius);

  T sum[kWidth] = {};
  unrolled<-Shape::reach(0), Shape::reach(0) + 1>([&](auto constant_z) {
    constexpr int kZ = decltype(constant_z)::value;
    const AxisSample z = sample_axis(domain, 0, i0 + kZ);
    unrolled<-Shape::reach(1), Shape::reach(1) + 1>([&](auto constant_y) {
      constexpr int kY = decltype(constant_y)::value;
      constexpr bool kBesides = reads_row<Shape>(1, 1, kZ, kY, true);
      if constexpr (kBesides || reads_row<Shape>(1, 1, kZ, kY, false)) {
        const AxisSample y = sample_axis(domain, 1, i1 + kY);
        const bool real = z.found == Found::point && y.found == Found::point;
        const T* const row = source + z.index * g.geometry.source_strides[0] + y.index * g.geometry.source_strides[1];
        T value[kCells];
#pragma unroll
        for (int cell = kBesides ? 0 : kRadius; cell < (kBesides ? kCells : kRadius + kWidth); ++cell) {
          if (real && x[cell].found == Found::point)
            value[cell] = __ldg(row + x[cell].index);
          else
            value[cell] = z.found != Found::point   ? axis_value<T>(domain, 0, z.found)
                          : y.found != Found::point ? axis_value<T>(domain, 1, y.found)
                                                    : axis_value<T>(domain, 2, x[cell].found);
        }
#pragma unroll
        for (int dx = kBesides ? -kRadius : 0; dx <= (kBesides ? kRadius : 0); ++dx) {
          const int place = Shape::place(kZ, kY, dx);
          if (place < 0) continue;
#pragma unroll
          for (int i = 0; i < kWidth; ++i) sum[i] = fma(g.coefficient[place], value[kRadius + i + dx], sum[i]);
        }
      }
    });
  });
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (i2 + i >= domain.extents[2]) continue;
    const T result = domain.frozen(i0, i1, i2 + i) ? source[g.geometry.source_index(i0, i1, i2 + i)] : sum[i];
    target[g.geometry.target_index(i0, i1, i2 + i)] = result;
  }
}

/// The body of the kernels for the interior.
template <class Tile, class T, class Shape>
__device__ __forceinline__ void streaming_interior(const StreamingTileArguments<T, Shape>& g, const T* source,
                                                   T* target) {
  const PointBox& box = g.interior;
  const std::int64_t i0 = g.first[0] + std::int64_t(blockIdx.z) * Tile::kPointsZ + threadIdx.z * Tile::kPlanes;
  const std::int64_t i1 = g.first[1] + std::int64_t(blockIdx.y) * Tile::kPointsY + threadIdx.y * Tile::kRows;
  if ((Shape::kRank > 2 && i0 >= box.end[0]) || (Shape::kRank > 1 && i1 >= box.end[1])) return;
#pragma unroll
  for (int column = 0; column < Tile::kColumns; ++column) {
    // From the row's beginning, not the interior's: so warps meet whole cache lines.
    const std::int64_t i2 =
        std::int64_t(blockIdx.x) * Tile::kPointsX + column * Tile::kApart + threadIdx.x * Tile::kWidth;
    const std::int64_t from = Shape::kRank == 1 ? i2 : i2 + i1 * g.geometry.source_strides[1];
    const std::int64_t to = Shape::kRank == 1 ? i2 : i2 + i1 * g.geometry.target_strides[1];
    if (i2 >= box.begin[2] && i2 < box.end[2])
      plain_tile<Tile>(g, source + (Shape::kRank < 3 ? from : from + i0 * g.geometry.source_strides[0]),
                       target + (Shape::kRank < 3 ? to : to + i0 * g.geometry.target_strides[0]));
  }
}

/// The body of the kernels for the shell.
template <int kWidth, class T, class Shape>
__device__ __forceinline__ void streaming_shell(const StreamingTileArguments<T, Shape>& g, const StreamingShell& shell,
                                                const T* source, T* target) {
  std::int64_t vector = std::int64_t(blockIdx.x) * StreamingShell::kThreads + threadIdx.x;
  int which = 0;
  while (which < StreamingShell::kBoxes && vector >= shell.vectors[which]) vector -= shell.vectors[which++];
  if (which == StreamingShell::kBoxes) return;
  const PointBox& box = shell.box[which];
  const std::int64_t in_row = (box.end[2] - box.begin[2] + kWidth - 1) / kWidth, rows = box.end[1] - box.begin[1];
  const std::int64_t row = vector / in_row;
  edge_vector<kWidth>(g, source, target, box.begin[0] + row / rows, box.begin[1] + row % rows,
                      box.begin[2] + (vector - row * in_row) * kWidth);
}

}  // namespace tessera::cuda
