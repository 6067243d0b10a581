// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the tiles of the streaming algorithm cut a domain: for its plans and for its model of time. Without CUDA.
#pragma once

#include <tessera/plugin/boundary.hpp>
#include <tessera/plugin/math.hpp>

#include "../../vector_access.hpp"
#include "../tap_shape.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tessera::cuda {

/// The points of a thread and of a block. A thread has kColumns vectors of kWidth points in each of its rows. They lie
/// kStride points apart, so that a warp's accesses are contiguous. kBlocks: that a multiprocessor should hold at least.
template <int kWidthOf, int kColumnsOf, int kRowsOf, int kPlanesOf, int kThreadsXOf, int kThreadsYOf, int kBlocksOf = 1,
          int kThreadsZOf = 1>
struct StreamingTile {
  static constexpr int kWidth = kWidthOf, kColumns = kColumnsOf, kRows = kRowsOf, kPlanes = kPlanesOf;
  static constexpr int kThreadsX = kThreadsXOf, kThreadsY = kThreadsYOf, kThreadsZ = kThreadsZOf;
  static constexpr int kThreads = kThreadsX * kThreadsY * kThreadsZ, kBlocks = kBlocksOf;
  static constexpr int kStride = kThreadsX * kWidth;
  static constexpr int kPointsX = kStride * kColumns, kPointsY = kRows * kThreadsY, kPointsZ = kPlanes * kThreadsZ;
};

/// Points from `begin` up to `end` on each axis.
struct PointBox {
  std::int64_t begin[plugin::kAxes], end[plugin::kAxes];

  TESSERA_HOST_DEVICE std::int64_t extent(int axis) const { return end[axis] - begin[axis]; }
};

/// The points around the interior, in boxes, by vectors.
struct StreamingShell {
  static constexpr int kBoxes = 2 * plugin::kAxes, kThreads = 128;
  PointBox box[kBoxes];
  std::int64_t vectors[kBoxes];

  std::int64_t all_vectors() const {
    std::int64_t all = 0;
    for (const std::int64_t count : vectors) all += count;
    return all;
  }
};

/// Tiles for rows that begin on multiples of 16 bytes, and for any others: the fastest of several that were measured on
/// an H100. In volumes, the more a shape reads of other rows and planes, the more rows and planes a thread has.
template <class T, class Shape, int kRank = Shape::kRank, bool kNarrowOf = sizeof(T) == 2>
struct StreamingTiles {
  static constexpr bool kBox32 = Shape::kPattern == TapPattern::box && sizeof(T) == 4, kFar = Shape::kRadius > 3,
                        kLight = Shape::kCount <= 7;
  static constexpr int kRows = kBox32 ? 4 : 2, kPlanes = kFar ? 3 : kLight ? 1 : 2;
  static constexpr int kUnalignedPlanes = Shape::kRadius > 2 ? 4 : 2;
  static constexpr int kThreadsX = kFar ? 16 : 32, kThreadsY = kBox32 ? 1 : kFar || kLight ? 8 : 4;
  static constexpr int kBlocks = kBox32 ? 3 : kFar || kLight ? 4 : 5;
  using Aligned = StreamingTile<kVectorWidth<T>, 1, kRows, kPlanes, kThreadsX, kThreadsY, kBlocks, kBox32 ? 4 : 1>;
  using Unaligned = StreamingTile<1, 1, 4, kUnalignedPlanes, 32, 4>;
};

/// Elements of 16 bits: 8 to a vector, so rows need fewer threads. There are no tiles for rows that are not aligned.
template <class T, class Shape>
struct StreamingTiles<T, Shape, 3, true> {
  static constexpr bool kFar = Shape::kRadius > 2, kLight = Shape::kCount <= 7;
  static constexpr int kPlanes = kFar || kLight ? 1 : 2, kThreadsY = kFar ? 4 : 8, kThreadsZ = kFar ? 4 : 1;
  static constexpr int kBlocks = kFar ? 2 : Shape::kCount > 13 ? 3 : 4;
  using Aligned = StreamingTile<kVectorWidth<T>, 1, 2, kPlanes, 16, kThreadsY, kBlocks, kThreadsZ>;
  using Unaligned = void;
};

template <class T, class Shape>
struct StreamingTiles<T, Shape, 2, false> {
  static constexpr bool kHeavy = Shape::kCount > 9;
  using Aligned = StreamingTile<kVectorWidth<T>, 1, kHeavy ? 4 : 2, 1, 32, kHeavy ? 4 : 8>;
  using Unaligned = StreamingTile<1, 1, 8, 1, 32, 4>;
};

template <class T, class Shape>
struct StreamingTiles<T, Shape, 2, true> {
  static constexpr bool kHeavy = Shape::kCount > 9, kFar = Shape::kRadius > 3;
  static constexpr int kRows = kFar ? 6 : kHeavy ? 4 : 2;
  using Aligned = StreamingTile<kVectorWidth<T>, 1, kRows, 1, 32, kHeavy ? 4 : 8, kFar ? 5 : kHeavy ? 6 : 4>;
  using Unaligned = void;
};

template <class T, class Shape>
struct StreamingTiles<T, Shape, 1, false> {
  using Aligned = StreamingTile<kVectorWidth<T>, 1, 1, 1, 256, 1>;
  using Unaligned = StreamingTile<1, 4, 1, 1, 128, 1>;
};

template <class T, class Shape>
struct StreamingTiles<T, Shape, 1, true> {
  using Aligned = StreamingTile<kVectorWidth<T>, 1, 1, 1, 256, 1>;
  using Unaligned = void;
};

/// Whether shell and interior are one launch.
template <class T, class Shape>
inline constexpr bool kOneLaunch = sizeof(T) == 2 && Shape::kRank == 2;

/// Rows of volumes are short: points at their ends are many, and belong to the interior where vectors fill the rows.
template <class Tile, class Shape>
inline constexpr bool kWholeRows = Shape::kRank == 3 && Tile::kWidth > 1;

/// Whether threads of such tiles read the points beside their own one by one, wherever they are in the row.
template <class Tile, class Shape>
inline constexpr bool kPointHalo = kWholeRows<Tile, Shape>&& Shape::kRadius < Tile::kWidth&& Shape::kRadius <= 2;

/// Points that can be read beyond an end of the rows: those of the caller's halo.
TESSERA_HOST_DEVICE inline std::int64_t halo_width(const plugin::Domain& domain, int side) {
  return domain.mode[2][side] == TESSERA_BOUNDARY_HALO ? domain.reach[2][side] : std::int64_t(0);
}

/// The points that whole tiles of threads compute, which read nothing that does not exist. Threads read whole vectors
/// on either side of their own, except in whole rows, if these are so long that nobody is near both ends.
template <class Tile, class Shape>
PointBox interior_box(const plugin::Domain& domain) {
  constexpr int kWidth = Tile::kWidth, kHalo = plugin::round_up(Shape::kRadius, kWidth);
  constexpr int kSteps[] = {Tile::kPlanes, Tile::kRows, kWidth};
  PointBox box;
  bool empty = false;
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    std::int64_t begin = domain.plain_begin(axis), end = domain.plain_end(axis);
    const bool ends = domain.extents[2] % kWidth == 0 && domain.extents[2] >= 2 * kHalo + kWidth &&
                      domain.extents[2] < std::numeric_limits<int>::max();
    if (axis == 2 && kWholeRows<Tile, Shape> && ends) {
      begin = 0, end = domain.extents[2];
    } else if (axis == 2) {
      begin = plugin::round_up(std::max(begin, kHalo - halo_width(domain, 0)), kWidth);
      end = std::min(end, domain.extents[2] + halo_width(domain, 1) - kHalo);
    }
    box.begin[axis] = begin;
    box.end[axis] = begin + (end - begin) / kSteps[axis] * kSteps[axis];
    empty = empty || end < begin + kSteps[axis];
  }
  for (int axis = 0; empty && axis < plugin::kAxes; ++axis) box.begin[axis] = box.end[axis] = domain.extents[axis];
  return box;
}

/// The rest of the domain: below and above the interior on axis 0, on both sides of it on axis 1 within its planes, and
/// on axis 2 within its rows.
inline StreamingShell shell_around(const plugin::Domain& domain, const PointBox& interior, int width) {
  StreamingShell shell;
  PointBox rest;
  for (int axis = 0; axis < plugin::kAxes; ++axis) rest.begin[axis] = 0, rest.end[axis] = domain.extents[axis];
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    for (const int side : {0, 1}) {
      PointBox& box = shell.box[2 * axis + side] = rest;
      (side == 0 ? box.end : box.begin)[axis] = (side == 0 ? interior.begin : interior.end)[axis];
      shell.vectors[2 * axis + side] = box.extent(0) * box.extent(1) * plugin::ceil_div(box.extent(2), width);
    }
    rest.begin[axis] = interior.begin[axis], rest.end[axis] = interior.end[axis];
  }
  return shell;
}

}  // namespace tessera::cuda
