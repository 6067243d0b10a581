// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "dense" cuts a domain and a box of taps, and its plans by type. Without CUDA.
#pragma once

#include "../offers.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/tap_box.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

namespace tessera::cuda {

class Context;

/// A thread's points: kRows rows, that lie side by side on axis kAxis (1, or 0: in as many planes), of kVectors vectors
/// of values. kLanes threads lie side by side. With an odd number of vectors, eight threads that load the same one of
/// theirs meet all banks of the shared memory.
template <class S, int kAxisOf, int kRowsOf, int kVectorsOf, int kLanesOf>
struct DensePoints {
  using Value = S;
  static constexpr int kAxis = kAxisOf, kRows = kRowsOf, kVectors = kVectorsOf, kLanes = kLanesOf;
  static constexpr int kWidth = int(16 / sizeof(S)), kColumns = kVectors * kWidth, kSpan = kLanes * kColumns;
  /// Threads of a warp that lie side by side, and their points of a row.
  static constexpr int kAcross = kLanes < 32 ? kLanes : 32, kWarpSpan = kAcross * kColumns;
  /// Rows from a thread to the next one below it.
  static constexpr int kDown = kAxis == 1 ? kRows : 1;
  static constexpr bool kBulk = kAxis == 0 || kRows == 1;  ///< whether cells come by bulk copies where they can
  static_assert(kVectors % 2 == 1);
};
/// Of shared memory, for a barrier for each of two stages.
inline constexpr int kDenseBarrierBytes = 16;
inline constexpr int kDenseWarp = 32;
inline constexpr int kDenseThreads = 4 * kDenseWarp;  ///< the most of a block; on a line, all of it
/// In planes, in volumes, and on a line.
template <class S>
using DenseRows = DensePoints<S, 1, 4, 3, 8>;
template <class S>
using DensePlanes = DensePoints<S, 0, 4, 3, 8>;
template <class S>
using DenseLine = DensePoints<S, 1, 1, 5, kDenseThreads>;

/// How a row of the box is cut into vectors of taps: the first may lack one, so that cells begin on a vector where the
/// point is the box's centre. Or the cells of the last but one serve the last one's only tap as well. Or the last one
/// has some.
enum class DenseRow { kPartFirst, kOneMore, kAny };

/// Tiles along an axis.
struct TileRange {
  int begin, end;

  TESSERA_HOST_DEVICE bool has(int tile) const { return tile >= begin && tile < end; }
};

/// What a block does. Cells come to shared memory in stages, two at a time. With points in rows a stage is for some
/// rows of a plane of the box, whose taps come with it. With points in planes it is a plane of cells, for all taps that
/// some plane of points has there, and taps are there from the begin. Sizes in points and taps.
struct DenseLayout {
  int threads, depth, width, height;  ///< of a block
  int element_bytes;
  int first[plugin::kAxes], taps[plugin::kAxes];  ///< the box; on axis 2, `first` is that of the first cell
  int early;  ///< points before the domain that rows begin with, so that cells begin on a vector
  DenseRow row;
  int last;                           ///< taps of the last vector of a row of the box
  int vectors;                        ///< of taps of a row of the box
  int stage_rows;                     ///< rows of the box in a stage, but for the last one of a plane
  int columns, pitch, before;         ///< cells of a row, from row to row in shared memory, and before the first vector
  int buffers;                        ///< stages that are in shared memory at a time
  int tap_bytes;                      ///< of all taps, in planes
  int cell_bytes, stage_bytes;        ///< of a stage's cells, and of its taps as well
  int write_bytes;                    ///< barriers, and by way of which results go
  int tiles[plugin::kAxes];           ///< blocks
  TileRange inside[plugin::kAxes];    ///< those whose points are all in the domain,
  TileRange whole[plugin::kAxes];     ///< whose cells all are,
  TileRange computed[plugin::kAxes];  ///< none of whose points keeps its value

  TESSERA_HOST_DEVICE int planes() const { return taps[0] + depth - 1; }  ///< of cells
  int stages() const { return planes() * plugin::ceil_div(taps[1], stage_rows); }
  int shared_bytes() const { return std::max(kDenseBarrierBytes + tap_bytes + buffers * stage_bytes, write_bytes); }
  int first_cell() const { return first[2] - early; }  ///< of the first row of the first block
  double blocks() const { return double(tiles[0]) * tiles[1] * tiles[2]; }
};

/// The layout of blocks of so many threads, or none where shared memory or a grid does not hold it.
std::optional<DenseLayout> dense_layout(const plugin::StencilProblem& problem, const Machine& machine, int threads);

/// With blocks of so many threads.
template <class T>
std::unique_ptr<plugin::Plan> make_dense(Context& context, const plugin::StencilProblem& problem, int threads);

}  // namespace tessera::cuda
