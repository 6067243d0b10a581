// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The blocks of the streaming algorithm for any list of taps, for its kernels and its model. Without CUDA.
#pragma once

#include <tessera/plugin/problem.hpp>

namespace tessera::cuda {

/// The most taps of a list that is none of the shapes.
inline constexpr int kStreamingMostTaps = 128;

/// A block's threads. A warp lies in one row. A thread far from the ends of the rows has kColumns points of its row,
/// kThreadsX apart. One near an end has a point in each of kRows neighbouring rows.
template <int kColumnsOf, int kRowsOf, int kThreadsXOf, int kThreadsYOf, int kUnrollOf, int kCornerUnrollOf>
struct ListTile {
  static constexpr int kColumns = kColumnsOf, kRows = kRowsOf;
  static constexpr int kThreadsX = kThreadsXOf, kThreadsY = kThreadsYOf, kThreads = kThreadsX * kThreadsY;
  static constexpr int kPointsX = kColumns * kThreadsX;
  static constexpr int kUnroll = kUnrollOf;              ///< taps whose loads are under way together
  static constexpr int kCornerUnroll = kCornerUnrollOf;  ///< for several rows near the end of another axis, too
};

/// Rows of volumes are short. Their threads have fewer points, so that most of a row lies in wide blocks. The tile of
/// large planes is for many taps in f32, as measured (49 taps, 16384^2: 121 GStencil/s instead of 107; in f64 68
/// instead of 78).
using LineTile = ListTile<8, 1, 256, 1, 4, 2>;
using PlaneTile = ListTile<8, 4, 32, 8, 8, 2>;
using LargePlaneTile = ListTile<8, 8, 32, 8, 8, 1>;
using VolumeTile = ListTile<4, 4, 32, 8, 8, 1>;

/// What a block takes of a row.
struct ListBlock {
  int threads, points;
};
inline ListBlock list_block(const plugin::StencilProblem& problem) {
  const auto block = []<class Tile>(Tile) { return ListBlock{Tile::kThreadsX, Tile::kPointsX}; };
  return problem.rank == 1 ? block(LineTile{}) : problem.rank == 2 ? block(PlaneTile{}) : block(VolumeTile{});
}

}  // namespace tessera::cuda
