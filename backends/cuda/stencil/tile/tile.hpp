// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tile of the domain that a block keeps in shared memory, with its halo. Pure functions of the problem and the
/// device's limits.
#pragma once

#include "../geometry.hpp"
#include "../offers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tessera::cuda {

inline constexpr int kTilePointsPerThread = 4;
inline constexpr int kMinTilePoints = 32 * kTilePointsPerThread;
inline constexpr int kMaxTilePoints = 512 * kTilePointsPerThread;
/// Blocks of the largest tile that a multiprocessor should hold: 40 registers a thread.
inline constexpr int kTileBlocks = 3;
/// The kernel counts cells in 16 bits (with room for a last, partly idle round of the threads).
inline constexpr int kMaxTileCells = 65536 - kMaxTilePoints;

struct Tile {
  int extent[plugin::kAxes];  ///< points, powers of two
  int cells[plugin::kAxes];   ///< points with the halo of the taps' reach
  std::int64_t bytes;         ///< shared memory

  int points() const { return extent[0] * extent[1] * extent[2]; }
  int threads() const { return points() / kTilePointsPerThread; }
  std::int64_t count(const plugin::StencilProblem& problem) const;  ///< tiles that cover the domain
};

/// The tile of these extents, or nothing where a block cannot hold it or a grid has too few blocks for the domain.
std::optional<Tile> make_tile(const plugin::StencilProblem& problem, const Machine& machine, const int (&extent)[3]);

/// A tile and the predicted seconds of a sweep.
struct TimedTile {
  Tile tile;
  double seconds;
};

/// The tiles of least predicted time, the fastest first; none where even the smallest does not fit. `given`: tile_z,
/// tile_y and tile_x narrow the choice.
std::vector<TimedTile> fastest_tiles(const plugin::StencilProblem& problem, const Machine& machine,
                                     const CellCosts& costs, const plugin::GivenParameters& given);

/// The parameters of a tile, axis by axis.
inline constexpr const char* kTileKeys[] = {"tile_z", "tile_y", "tile_x"};

/// A plan's parameters: those of the axes that the domain has, and what else there is.
template <class... More>
plugin::Parameters parameters_of(const plugin::StencilProblem& p, const Tile& tile, More... more) {
  const plugin::Parameters::Entry x{kTileKeys[2], tile.extent[2]}, y{kTileKeys[1], tile.extent[1]},
      z{kTileKeys[0], tile.extent[0]};
  if (p.rank == 1) return {x, more...};
  if (p.rank == 2) return {y, x, more...};
  return {z, y, x, more...};
}

/// The tile of a plan's parameters.
Tile tile_of(const plugin::StencilProblem& problem, const Machine& machine, const plugin::Parameters& parameters);
/// Offsets of the taps inside the tile, counted from the first cell that a point could reach.
inline std::vector<int> tile_offsets(const plugin::StencilProblem& problem, const Tile& tile) {
  std::vector<int> offsets;
  const auto cell = [&](const plugin::Tap& tap, int axis) {
    return int(tap.offset[std::size_t(axis)] + problem.domain.reach[axis][0]);
  };
  for (const auto& tap : problem.taps)
    offsets.push_back((cell(tap, 0) * tile.cells[1] + cell(tap, 1)) * tile.cells[2] + cell(tap, 2));
  return offsets;
}

template <class S>
std::vector<S> coefficients(const plugin::StencilProblem& problem) {
  std::vector<S> values;
  for (const auto& tap : problem.taps) values.push_back(S(tap.coefficient));
  return values;
}

}  // namespace tessera::cuda
