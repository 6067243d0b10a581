// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the temporal algorithm cuts a domain, and where a tile lies in its buffer. Problems have their sweep axis first.
#pragma once

#include "temporal_axis.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// Steps of a pass, and the points of a tile on axes 1 and 2.
struct TemporalShape {
  std::int64_t fused_steps, tile, width;
};

/// How many tiles there are on each axis, and the points of one.
struct TileGrid {
  plugin::Index3 tiles, size;

  std::int64_t count() const { return tiles[0] * tiles[1] * tiles[2]; }
  /// How much longer the busiest of so many threads works than the average.
  double idle(int threads) const;
};
/// Tiles of axes 1 and 2, and as few chunks of axis 0 as give threads equal shares: each chunk repeats some planes.
TileGrid tile_grid(const plugin::StencilProblem& problem, const TemporalShape& shape, int threads);

/// A tile of at most `width` points on axis 2 that fits in `cache_bytes`, with as many rows as it may have; a tile of 0
/// rows where none fits.
TemporalShape fitting_shape(const plugin::StencilProblem& problem, std::int64_t fused_steps, std::int64_t width,
                            std::int64_t block_rows, std::int64_t cache_bytes);

inline constexpr std::int64_t kMostPlanes = 8;

/// Points and elements of a tile's buffer.
struct TileLayout {
  std::int64_t pitch;       ///< elements from row to row
  std::int64_t rows;        ///< of a plane
  std::int64_t planes;      ///< of a ring that all levels share
  std::int64_t group;       ///< planes that a level computes at a time, kMostPlanes or fewer
  std::int64_t block_rows;  ///< rows of them that it computes before the next level goes on
  bool blocks;              ///< it computes them together
  /// A level's row lies where the level below had a row that is so many planes and rows farther back.
  std::int64_t plane_shift, row_shift;
  std::int64_t margin;  ///< elements before a row's first coordinate, rounded down to whole lines
  std::int64_t elements() const { return planes * rows * pitch; }
};
/// With `block_rows` rows of a plane in blocks of rows, if there are any.
TileLayout tile_layout(const plugin::StencilProblem& problem, const TemporalShape& shape, std::int64_t block_rows);

}  // namespace tessera::cpu
