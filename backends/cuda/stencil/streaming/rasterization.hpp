// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The order in which a volume's tiles are computed. Plain arithmetic that host and device code share.
#pragma once

#include <tessera/plugin/boundary.hpp>
#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

/// Tiles are computed in groups of rows: along axis 2, then through the rows of a group, then through its planes, then
/// group by group. So what a tile reads of its neighbours is still in the cache.
struct Rasterization {
  std::int64_t columns;     ///< tiles along axis 2
  std::int64_t group_rows;  ///< tiles along axis 1 in a group; the last group may have some too many
  std::int64_t planes;      ///< tiles along axis 0
  std::int64_t groups;
};

/// For so many tiles on each axis, of `planes` x `rows` points that read `reach` planes beyond their own. Groups are so
/// low that what is read and written at a time fits into half of the cache: the H100's second-level cache has two
/// halves, and keeps twice what the multiprocessors of both sides read. most_rows: that a group can have.
inline Rasterization rasterize(const std::int64_t (&tiles)[plugin::kAxes], std::int64_t planes, std::int64_t rows,
                               std::int64_t reach, std::int64_t row_bytes, std::int64_t cache_bytes,
                               std::int64_t most_rows) {
  const std::int64_t fit = cache_bytes / 2 / ((2 * planes + 2 * reach) * row_bytes) / rows;
  const std::int64_t most = tiles[0] > 1 ? std::clamp<std::int64_t>(fit, 1, most_rows) : most_rows;
  const std::int64_t groups = std::max<std::int64_t>(plugin::ceil_div(tiles[1], most), 1);
  return {tiles[2], plugin::ceil_div(tiles[1], groups), tiles[0], groups};
}

}  // namespace tessera::cuda
