// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of the streaming algorithm: a thread computes a small tile of points in registers.
///
/// A row of the input is read once for all of the tile's rows that need it, in vectors of 16 bytes where its layout
/// allows; elements of 16 bits always. What neighbouring threads read overlaps, and the caches serve the repeats.
/// Threads are short and the grid is as large as the domain, which keeps the memory busiest. Points near the boundary
/// have a kernel of their own, a vector a thread, which resolves the boundary axis by axis. So its registers and its
/// slower threads cost the interior nothing.
#pragma once

#include "../geometry.hpp"
#include "../row_vector.cuh"
#include "../tap_shape.hpp"
#include "axis_sample.cuh"
#include "rasterization.hpp"
#include "streaming_tiling.hpp"
#include "unrolled.cuh"

namespace tessera::cuda {

template <class T, class Shape>
struct StreamingTileArguments {
  SweepGeometry geometry;
  Scalar<T> coefficient[Shape::kCount];
};

/// Whole threads' tiles of plain points (on axis 2: see kWholeRows), in the order of the grid.
struct StreamingInterior {
  PointBox box;
  Rasterization tiles;
  std::int64_t first;  ///< of the launch's planes of tiles, counted through all groups
};

/// Values of a row that a thread has read: its own points, and kHalo vectors on either side.
template <class T, int kWidth, class Shape>
struct RowSegment {
  static constexpr int kHalo = plugin::ceil_div(Shape::kRadius, kWidth);
  using S = Scalar<T>;
  S value[(2 * kHalo + 1) * kWidth];

  /// Point i of the thread; i < 0 and i >= kWidth: of the halo.
  __device__ S& operator[](int i) { return value[kHalo * kWidth + i]; }
  __device__ const S& operator[](int i) const { return value[kHalo * kWidth + i]; }
  /// Loads a vector, counted from the thread's own at `row`.
  __device__ void load(const T* row, int vector) {
    load_vector<kWidth>(row + vector * kWidth, value + (kHalo + vector) * kWidth);
  }
};

template <class T, class Tile>
using TileSums = Scalar<T>[Tile::kPlanes][Tile::kRows][Tile::kWidth];

/// Calls body<kZ, kY, kWithHalo>() for every row (kZ, kY) that the tile reads, counted from its first. kWithHalo: with
/// neighbours along the row.
template <class Tile, class Shape, class Body>
__device__ __forceinline__ void for_each_row(Body&& body) {
  unrolled<-Shape::reach(0), Tile::kPlanes + Shape::reach(0)>([&](auto z) {
    unrolled<-Shape::reach(1), Tile::kRows + Shape::reach(1)>([&](auto y) {
      constexpr int kZ = decltype(z)::value, kY = decltype(y)::value;
      constexpr bool kWithHalo = reads_row<Shape>(Tile::kPlanes, Tile::kRows, kZ, kY, true);
      if constexpr (kWithHalo || reads_row<Shape>(Tile::kPlanes, Tile::kRows, kZ, kY, false))
        body.template operator()<kZ, kY, kWithHalo>();
    });
  });
}

/// Adds what a row of the input contributes to all of the tile's points. Points that it does not reach are left out
/// before the compiler sees them: to find that out takes it as long as the rest of the file.
template <class Tile, int kZ, int kY, bool kWithHalo, class T, class Shape>
__device__ __forceinline__ void add_row(const StreamingTileArguments<T, Shape>& g,
                                        const RowSegment<T, Tile::kWidth, Shape>& row, TileSums<T, Tile>& sum) {
  constexpr int kReach = kWithHalo ? Shape::kRadius : 0;
  unrolled<0, Tile::kPlanes>([&](auto plane) {
    unrolled<0, Tile::kRows>([&](auto j) {
      constexpr int kPlane = decltype(plane)::value, kRow = decltype(j)::value;
      if constexpr (reads_row<Shape>(1, 1, kZ - kPlane, kY - kRow, false) ||
                    reads_row<Shape>(1, 1, kZ - kPlane, kY - kRow, true)) {
#pragma unroll
        for (int x = -kReach; x <= kReach; ++x) {
          const int place = Shape::place(kZ - kPlane, kY - kRow, x);
          if (place < 0) continue;
#pragma unroll
          for (int i = 0; i < Tile::kWidth; ++i)
            sum[kPlane][kRow][i] = fma(g.coefficient[place], row[i + x], sum[kPlane][kRow][i]);
        }
      }
    });
  });
}

/// Reads the halo of a thread's points in a row as whole vectors.
struct VectorHalo {
  template <class T, int kWidth, class Shape>
  __device__ void read(const T* row, RowSegment<T, kWidth, Shape>& segment) const {
#pragma unroll
    for (int vector = 1; vector <= RowSegment<T, kWidth, Shape>::kHalo; ++vector)
      segment.load(row, -vector), segment.load(row, vector);
  }
};

/// Reads the halo of threads that may be near the ends of the rows as single points, which each thread resolves once. A
/// side has fewer of them than a vector: so all of them lie within the row, or none. Rows have less than 2^31 points.
template <class T, int kRadius>
class PointHalo {
 public:
  /// Of `width` points from i2 on.
  __device__ PointHalo(const plugin::Domain& domain, std::int64_t i2, int width) {
#pragma unroll
    for (int k = 0; k < kRadius; ++k) {
      const AxisSample low = sample_axis(domain, 2, i2 - 1 - k), high = sample_axis(domain, 2, i2 + width + k);
      offset_[0][k] = low.kind == SampleKind::point ? int(low.index - i2) : 0;
      offset_[1][k] = high.kind == SampleKind::point ? int(high.index - i2) : 0;
      constant_[0] = low.kind != SampleKind::point, constant_[1] = high.kind != SampleKind::point;
      value_[0] = axis_value<S>(domain, 2, low.kind), value_[1] = axis_value<S>(domain, 2, high.kind);
    }
  }

  template <int kWidth, class Shape>
  __device__ void read(const T* row, RowSegment<T, kWidth, Shape>& segment) const {
#pragma unroll
    for (int k = 0; k < kRadius; ++k) {
      const S low = value_at(row + offset_[0][k]), high = value_at(row + offset_[1][k]);
      segment[-1 - k] = constant_[0] ? value_[0] : low;
      segment[kWidth + k] = constant_[1] ? value_[1] : high;
    }
  }

 private:
  using S = Scalar<T>;
  int offset_[2][kRadius];
  bool constant_[2];
  S value_[2];
};

/// Reads the halo of such threads for any reach as whole vectors, and replaces the points beyond the near end.
template <class T, int kRadius>
class BoundaryHalo {
 public:
  /// Of `width` points from i2 on and `halo` ones on either side; one of the ends is farther.
  __device__ BoundaryHalo(const plugin::Domain& domain, std::int64_t i2, int width, int halo)
      : domain_(domain),
        i2_(i2),
        low_(i2 - halo < -halo_width(domain, 0)),
        high_(i2 + width + halo > domain.extents[2] + halo_width(domain, 1)) {
#pragma unroll
    for (int k = 0; k < kRadius; ++k)
      if (low_ || high_) cell_[k] = sample_axis(domain, 2, low_ ? i2 - 1 - k : i2 + width + k);
  }

  template <int kWidth, class Shape>
  __device__ void read(const T* row, RowSegment<T, kWidth, Shape>& segment) const {
#pragma unroll
    for (int vector = 1; vector <= RowSegment<T, kWidth, Shape>::kHalo; ++vector) {
      segment.load(low_ ? row + vector * kWidth : row, -vector);
      segment.load(high_ ? row - vector * kWidth : row, vector);
    }
#pragma unroll
    for (int k = 0; k < kRadius; ++k) {
      if (low_) segment[-1 - k] = beyond(row, k);
      if (high_) segment[kWidth + k] = beyond(row, k);
    }
  }

 private:
  __device__ Scalar<T> beyond(const T* row, int k) const {
    if (cell_[k].kind == SampleKind::point) return value_at(row + (cell_[k].index - i2_));
    return axis_value<Scalar<T>>(domain_, 2, cell_[k].kind);
  }

  const plugin::Domain& domain_;
  std::int64_t i2_;
  bool low_, high_;
  AxisSample cell_[kRadius];
};

/// The thread's points from `source` on, plain on axes 0 and 1. kEnds: some may be near the ends of rows and keep their
/// values; the first lies at i2 on axis 2.
template <class Tile, bool kEnds, class Halo, class T, class Shape>
__device__ __forceinline__ void plain_tile(const StreamingTileArguments<T, Shape>& g, const Halo& halo, const T* source,
                                           T* target, std::int64_t i2) {
  const SweepGeometry& geometry = g.geometry;
  TileSums<T, Tile> sum = {};
  for_each_row<Tile, Shape>([&]<int kZ, int kY, bool kWithHalo>() {
    const T* const row = source + kZ * geometry.source_strides[0] + kY * geometry.source_strides[1];
    RowSegment<T, Tile::kWidth, Shape> segment;
    segment.load(row, 0);
    if constexpr (kWithHalo) halo.read(row, segment);
    add_row<Tile, kZ, kY, kWithHalo>(g, segment, sum);
  });
  unsigned frozen = 0;  // a bit a point of a row
  if constexpr (kEnds && kNarrow<T>) {
    frozen = frozen_points<Tile::kWidth>(geometry.domain, int(i2));
  } else {
#pragma unroll
    for (int i = 0; kEnds && i < Tile::kWidth; ++i) frozen |= unsigned(geometry.domain.frozen_on(2, i2 + i)) << i;
  }
#pragma unroll
  for (int plane = 0; plane < Tile::kPlanes; ++plane)
#pragma unroll
    for (int j = 0; j < Tile::kRows; ++j) {
      if (frozen != 0) {
        const T* const old = source + plane * geometry.source_strides[0] + j * geometry.source_strides[1];
        if constexpr (kNarrow<T>) {
          T* const to = target + plane * geometry.target_strides[0] + j * geometry.target_strides[1];
#pragma unroll
          for (int i = 0; i < Tile::kWidth; ++i)
            to[i] = frozen >> i & 1 ? load_read_only(old + i) : rounded<T>(sum[plane][j][i]);
          continue;
        } else {
#pragma unroll
          for (int i = 0; i < Tile::kWidth; ++i)
            if (frozen >> i & 1) sum[plane][j][i] = __ldg(old + i);
        }
      }
      store_vector<Tile::kWidth>(target + plane * geometry.target_strides[0] + j * geometry.target_strides[1],
                                 sum[plane][j]);
    }
}

/// Such a tile of which points may be near one end of the rows: the first lies at i2 on axis 2. `between`: none of the
/// block is.
template <class Tile, class T, class Shape>
__device__ __forceinline__ void row_tile(const StreamingTileArguments<T, Shape>& g, bool between, const T* source,
                                         T* target, std::int64_t i2) {
  constexpr int kHalo = RowSegment<T, Tile::kWidth, Shape>::kHalo * Tile::kWidth;
  const plugin::Domain& domain = g.geometry.domain;
  if constexpr (kPointHalo<Tile, Shape>)
    plain_tile<Tile, true>(g, PointHalo<T, Shape::kRadius>(domain, i2, Tile::kWidth), source, target, i2);
  else if (between)
    plain_tile<Tile, false>(g, VectorHalo{}, source, target, i2);
  else
    plain_tile<Tile, true>(g, BoundaryHalo<T, Shape::kRadius>(domain, i2, Tile::kWidth, kHalo), source, target, i2);
}

/// One vector of points, any of which may be near the boundary. kInRow: what it reads lies within the rows.
template <int kWidth, bool kInRow, class T, class Shape>
__device__ __forceinline__ void edge_vector(const StreamingTileArguments<T, Shape>& g, const T* source, std::int64_t i0,
                                            std::int64_t i1, std::int64_t i2, Scalar<T> (&sum)[kWidth]) {
  using S = Scalar<T>;
  using Segment = RowSegment<T, kWidth, Shape>;
  const plugin::Domain& domain = g.geometry.domain;
  constexpr int kUp = Shape::reach(0), kBack = Shape::reach(1), kCells = kInRow ? 1 : kWidth + 2 * Shape::kRadius;
  AxisSample plane[2 * kUp + 1], row[2 * kBack + 1], cell[kCells];
#pragma unroll
  for (int k = 0; k <= 2 * kUp; ++k) plane[k] = sample_axis(domain, 0, i0 + k - kUp);
#pragma unroll
  for (int k = 0; k <= 2 * kBack; ++k) row[k] = sample_axis(domain, 1, i1 + k - kBack);
#pragma unroll
  for (int k = 0; k < kCells; ++k) cell[k] = kInRow ? AxisSample{} : sample_axis(domain, 2, i2 + k - Shape::kRadius);

  using One = StreamingTile<kWidth, 1, 1, 1, 1, 1>;
  TileSums<T, One> sums = {};
  for_each_row<One, Shape>([&]<int kZ, int kY, bool kWithHalo>() {
    const SampleKind kind = plane[kZ + kUp].kind != SampleKind::point ? plane[kZ + kUp].kind : row[kY + kBack].kind;
    const T* const from = source + plane[kZ + kUp].index * g.geometry.source_strides[0] +
                          row[kY + kBack].index * g.geometry.source_strides[1];
    constexpr int kReach = kWithHalo ? Shape::kRadius : 0;
    Segment segment;
    if (kind != SampleKind::point) {
      const S value = axis_value<S>(domain, plane[kZ + kUp].kind != SampleKind::point ? 0 : 1, kind);
#pragma unroll
      for (int i = -kReach; i < kWidth + kReach; ++i) segment[i] = value;
    } else if constexpr (kInRow) {
#pragma unroll
      for (int vector = kWithHalo ? -Segment::kHalo : 0; vector <= (kWithHalo ? Segment::kHalo : 0); ++vector)
        segment.load(from + i2, vector);
    } else {
#pragma unroll
      for (int i = -kReach; i < kWidth + kReach; ++i) {
        const AxisSample& x = cell[i + Shape::kRadius];
        segment[i] = x.kind == SampleKind::point ? value_at(from + x.index) : axis_value<S>(domain, 2, x.kind);
      }
    }
    add_row<One, kZ, kY, kWithHalo>(g, segment, sums);
  });
#pragma unroll
  for (int i = 0; i < kWidth; ++i) sum[i] = sums[0][0][i];
}

/// The vector from (i0, i1, i2) on, as far as its points exist.
template <int kWidth, class T, class Shape>
__device__ __forceinline__ void any_vector(const StreamingTileArguments<T, Shape>& g, const T* source, T* target,
                                           std::int64_t i0, std::int64_t i1, std::int64_t i2) {
  const plugin::Domain& domain = g.geometry.domain;
  constexpr int kHalo = RowSegment<T, kWidth, Shape>::kHalo * kWidth;
  const T* const old = source + g.geometry.source_index(i0, i1, i2);
  T* const to = target + g.geometry.target_index(i0, i1, i2);
  const bool frozen = domain.frozen_on(0, i0) || domain.frozen_on(1, i1);
  Scalar<T> sum[kWidth];
  if (i2 >= kHalo && i2 + kWidth + kHalo <= domain.extents[2] && !domain.frozen_on(2, i2) &&
      !domain.frozen_on(2, i2 + kWidth - 1)) {
    if (kNarrow<T> && frozen) return copy_vector<kWidth>(old, to);  // the bits of any NaN
    if (frozen)
      load_vector<kWidth>(old, sum);
    else
      edge_vector<kWidth, true>(g, source, i0, i1, i2, sum);
    return store_vector<kWidth>(to, sum);
  }
  if (!frozen) edge_vector<kWidth, false>(g, source, i0, i1, i2, sum);
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    if (i2 + i < domain.extents[2]) to[i] = frozen || domain.frozen_on(2, i2 + i) ? old[i] : rounded<T>(sum[i]);
}

/// The body of the kernels for the interior, of its block (blockIdx.x, block_y, blockIdx.z). With kEnds its rows are
/// whole, and threads at their ends reach beyond.
template <class Tile, bool kEnds, class T, class Shape>
__device__ __forceinline__ void streaming_interior(const StreamingTileArguments<T, Shape>& g,
                                                   const StreamingInterior& interior, unsigned block_y, const T* source,
                                                   T* target) {
  constexpr int kHalo = RowSegment<T, Tile::kWidth, Shape>::kHalo * Tile::kWidth;
  const PointBox& box = interior.box;
  std::int64_t i0 = box.begin[0], i1 = box.begin[1] + (block_y * Tile::kThreadsY + threadIdx.y) * Tile::kRows;
  if constexpr (Shape::kRank == 3) {
    const std::int64_t number = interior.first + blockIdx.z, planes = interior.tiles.planes;
    const unsigned group = interior.tiles.groups == 1 ? 0 : unsigned(number) / unsigned(planes);
    i0 += (number - group * planes) * Tile::kPointsZ + threadIdx.z * Tile::kPlanes;
    i1 += group * interior.tiles.group_rows * Tile::kPointsY;
    if (i0 >= box.end[0] || i1 >= box.end[1]) return;
  } else if constexpr (Shape::kRank == 2) {
    i1 += (interior.first + blockIdx.z) * interior.tiles.group_rows * Tile::kPointsY;
    if (i1 >= box.end[1]) return;
  }
  // From the row's beginning, not the interior's: so warps meet whole cache lines.
  const std::int64_t begin = std::int64_t(blockIdx.x) * Tile::kPointsX;
  const bool between = begin >= kHalo && begin + Tile::kPointsX + kHalo <= g.geometry.domain.extents[2];
#pragma unroll
  for (int column = 0; column < Tile::kColumns; ++column) {
    const std::int64_t i2 = begin + column * Tile::kStride + threadIdx.x * Tile::kWidth;
    std::int64_t from = i2, to = i2;
    if (Shape::kRank > 1) from += i1 * g.geometry.source_strides[1], to += i1 * g.geometry.target_strides[1];
    if (Shape::kRank > 2) from += i0 * g.geometry.source_strides[0], to += i0 * g.geometry.target_strides[0];
    if (i2 < box.begin[2] || i2 >= box.end[2]) continue;
    if constexpr (kEnds)
      row_tile<Tile>(g, between, source + from, target + to, i2);
    else
      plain_tile<Tile, false>(g, VectorHalo{}, source + from, target + to, i2);
  }
}

/// The body of the kernels for the shell, of one of its vectors.
template <int kWidth, class T, class Shape>
__device__ __forceinline__ void streaming_shell(const StreamingTileArguments<T, Shape>& g, const StreamingShell& shell,
                                                std::int64_t vector, const T* source, T* target) {
  int which = 0;
  while (which < StreamingShell::kBoxes && vector >= shell.vectors[which]) vector -= shell.vectors[which++];
  if (which == StreamingShell::kBoxes) return;
  const PointBox& box = shell.box[which];
  const std::int64_t in_row = (box.extent(2) + kWidth - 1) / kWidth;
  const std::int64_t row = vector / in_row, plane = row / box.extent(1);
  any_vector<kWidth>(g, source, target, box.begin[0] + plane, box.begin[1] + (row - plane * box.extent(1)),
                     box.begin[2] + (vector - row * in_row) * kWidth);
}

}  // namespace tessera::cuda
