// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "dense" cuts a domain and a box of taps, and its plans by type. Without CUDA.
#pragma once

#include "../offers.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/tap_box.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace tessera::cuda {

class Context;

/// A thread's points: kRows rows, a row apart, of kVectors vectors of values. kLanes threads lie side by side. With an
/// odd number of vectors, eight threads that load the same one of theirs meet all banks of the shared memory.
template <class S, int kRowsOf, int kVectorsOf, int kLanesOf>
struct DensePoints {
  using Value = S;
  static constexpr int kRows = kRowsOf, kVectors = kVectorsOf, kLanes = kLanesOf;
  static constexpr int kWidth = int(16 / sizeof(S)), kColumns = kVectors * kWidth, kSpan = kLanes * kColumns;
  /// Threads of a warp that lie side by side, and their points of a row.
  static constexpr int kAcross = kLanes < 32 ? kLanes : 32, kWarpSpan = kAcross * kColumns;
  static_assert(kVectors % 2 == 1);
};
inline constexpr int kDenseWarp = 32;
inline constexpr int kDenseThreads = 4 * kDenseWarp;  ///< the most of a block; on a line, all of it
/// In planes and volumes, and on a line.
template <class S>
using DenseRows = DensePoints<S, 4, 3, 8>;
template <class S>
using DenseLine = DensePoints<S, 1, 5, kDenseThreads>;

/// Tiles along an axis.
struct TileRange {
  int begin, end;

  TESSERA_HOST_DEVICE bool has(int tile) const { return tile >= begin && tile < end; }
};

/// What a block does. Taps go by in stages: some rows of a plane of the box, and the cells that they meet, lie in
/// shared memory. Sizes in points and taps.
struct DenseLayout {
  int threads, width, height;                     ///< of a block
  int first[plugin::kAxes], taps[plugin::kAxes];  ///< the box
  int early;                        ///< points before the domain that rows begin with, so that cells begin on a vector
  int groups;                       ///< vectors of taps of a row of the box
  int stage_rows;                   ///< rows of the box in a stage, but for the last one of a plane
  int pitch;                        ///< cells of a row in shared memory
  int buffers;                      ///< stages that are in shared memory at a time
  int cell_bytes, stage_bytes;      ///< of a stage's cells, and of its taps as well
  int tiles[plugin::kAxes];         ///< blocks
  TileRange inside[plugin::kAxes];  ///< those whose points are all in the domain,
  TileRange whole[plugin::kAxes];   ///< whose cells all are,
  TileRange computed[plugin::kAxes];  ///< none of whose points keeps its value

  int stages() const { return taps[0] * plugin::ceil_div(taps[1], stage_rows); }
  int shared_bytes() const { return buffers * stage_bytes; }
  double blocks() const { return double(tiles[0]) * tiles[1] * tiles[2]; }
};

/// The layout of blocks of so many threads, or none where shared memory or a grid does not hold it.
std::optional<DenseLayout> dense_layout(const plugin::StencilProblem& problem, const Machine& machine, int threads);

/// With blocks of so many threads.
template <class T>
std::unique_ptr<plugin::Plan> make_dense(Context& context, const plugin::StencilProblem& problem, int threads);

}  // namespace tessera::cuda
