// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm warpgroup_f32 cuts a product: pure functions of the problem and the machine, without CUDA.
#pragma once

#include "../../machine.hpp"
#include "../triangle_tiles.hpp"
#include "warpgroup_f32_tiles.hpp"

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <vector>

namespace tessera::cuda {

/// One way to run a product.
struct WarpgroupF32Config {
  WarpgroupF32Tile tile;
  /// Slices of k, whose sums are added in order, by another kernel. 1: one, or all of ordered sums one after another.
  std::int64_t split = 1;
  /// So much of k at a time: parts are made and multiplied, and D holds the sums until the next. 0: all, of all
  /// matrices of a batch; else of one after the other.
  std::int64_t panel_k = 0;

  bool whole() const { return panel_k == 0; }
};

/// Where the parts of an operand lie in the workspace, in bytes from its beginning; of one that was prepared in what
/// its form has behind the matrix.
struct PartsPlaces {
  std::uint64_t parts, largest, scale;
};

/// What a launch takes of the workspace.
struct WarpgroupF32Workspace {
  std::uint64_t partial_bytes;  ///< sums of slices, at its beginning
  PartsPlaces a, b;
  std::uint64_t bytes;
  std::uint64_t form_bytes;  ///< of an operand that was prepared
};

WarpgroupF32Workspace warpgroup_f32_workspace(const plugin::GemmProblem& problem, const WarpgroupF32Config& config);

/// The forms of an operand: the arithmetic, how many lines a block of parts has and how many slabs a step, which tiles
/// must have, too.
std::vector<plugin::Parameters> warpgroup_f32_forms(const plugin::GemmProblem& problem, const Machine& machine,
                                                    int operand);
/// A tile for operands of the problem's form.
WarpgroupF32Tile warpgroup_f32_tile_of_form(const plugin::GemmProblem& problem);
std::uint64_t warpgroup_f32_form_bytes(const plugin::GemmProblem& problem, const Machine& machine);

/// Matrices of an operand whose parts are made at a time: one where all of a batch share it.
std::int64_t warpgroup_f32_matrices(std::int64_t batch, std::int64_t stride, const WarpgroupF32Config& config);

/// A triangle of D by the tiles of clusters.
TriangleTiles warpgroup_f32_triangle(const plugin::GemmProblem& problem, const WarpgroupF32Tile& tile);

/// Blocks that compute one tile of so many matrices after the other, in clusters of the tile's size.
std::int64_t warpgroup_f32_blocks(const plugin::GemmProblem& problem, std::int64_t batch, const Machine& machine,
                                  const WarpgroupF32Config& config);

/// "tile_m", "tile_n", "split", "compute", "panel_k": a configuration as parameters, and back.
plugin::Parameters warpgroup_f32_parameters(const WarpgroupF32Config& config);
WarpgroupF32Config warpgroup_f32_config(const plugin::GemmProblem& problem, const plugin::Parameters& parameters);

}  // namespace tessera::cuda
