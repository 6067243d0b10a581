// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_shape.hpp"

#include "tap_groups.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cmath>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::round_up;
using plugin::StencilProblem;

/// Planes of one row that a level computes at a time. They read most rows from the first-level cache. Measured: 4 are
/// 1.25 times as fast as 1, 8 no faster.
constexpr std::int64_t kRowGroup = 4;
static_assert(kRowGroup <= kMostPlanes && kBlockPlanes <= kMostPlanes);
/// Tiles on axis 2 are whole multiples of so many points.
constexpr std::int64_t kWidthMultiple = 64;

/// n cut into equal chunks of at most `most`, in whole multiples of `unit`.
std::int64_t even_chunk(std::int64_t n, std::int64_t most, std::int64_t unit) {
  return std::min(n, round_up(ceil_div(n, ceil_div(n, most)), unit));
}

}  // namespace

double TileGrid::idle(int threads) const {
  const double share = double(count()) / threads;
  return std::ceil(share) / share;
}

TileGrid tile_grid(const StencilProblem& p, const TemporalShape& shape, int threads) {
  const auto& extents = p.domain.extents;
  TileGrid grid{{1, ceil_div(extents[1], shape.tile), ceil_div(extents[2], shape.width)},
                {extents[0], shape.tile, shape.width}};
  const std::int64_t columns = grid.count();
  const std::int64_t most = extents[0] / (8 * shape.fused_steps * TileAxis(p.domain, 0).radius() + 1);
  const auto idle = [threads](std::int64_t units) { return (threads - units % threads) % threads; };
  while (grid.tiles[0] < most && idle(columns * grid.tiles[0]) * 20 > columns * grid.tiles[0]) ++grid.tiles[0];
  grid.size[0] = ceil_div(extents[0], grid.tiles[0]);
  grid.tiles[0] = ceil_div(extents[0], grid.size[0]);
  return grid;
}

TileLayout tile_layout(const StencilProblem& p, const TemporalShape& s, std::int64_t block_rows) {
  const std::int64_t line = kLineBytes / std::int64_t(plugin::size_of(p.dtype));
  const auto lines = [line](std::int64_t n) { return ceil_div(n, line); };
  const TileAxis outer(p.domain, 0), middle(p.domain, 1), along(p.domain, 2);
  TileLayout layout{};
  layout.margin = lines(along.radius()) * line;
  const auto room = [&](const TileAxis& axis, std::int64_t n) {
    return std::min(n + 2 * s.fused_steps * axis.radius(), axis.around({0, axis.extent()}, s.fused_steps).size());
  };
  // Planes of several rows leave room for later planes row by row, others as a whole.
  const bool row_by_row = room(middle, s.tile) > 1;
  layout.blocks = row_by_row && outer.extent() >= kBlockPlanes && block_rows > 0;
  layout.group = layout.blocks ? kBlockPlanes : row_by_row ? 1 : std::min(kRowGroup, outer.extent());
  layout.block_rows = layout.blocks ? block_rows : 1;
  layout.plane_shift = row_by_row ? outer.radius() : outer.radius() + 1;
  layout.row_shift = row_by_row ? middle.radius() + layout.block_rows : 0;
  // The last level's planes wait for the next group until they are stored.
  layout.planes = s.fused_steps * (outer.radius() + layout.plane_shift) + 2 * layout.group;
  layout.rows = room(middle, s.tile) + s.fused_steps * layout.row_shift;
  // An odd number of lines, two of them for the ends: neighbouring rows start in different sets of the caches.
  layout.pitch = (lines(room(along, s.width)) + 2 + 2 * lines(along.radius())) / 2 * 2 * line + line;
  return layout;
}

TemporalShape fitting_shape(const StencilProblem& p, std::int64_t fused_steps, std::int64_t width,
                            std::int64_t block_rows, std::int64_t cache_bytes) {
  const std::int64_t middle = p.domain.extents[1], element = std::int64_t(plugin::size_of(p.dtype));
  TemporalShape shape{fused_steps, 1, even_chunk(p.domain.extents[2], width, kWidthMultiple)};
  const TileLayout single = tile_layout(p, shape, block_rows);
  const std::int64_t rows = cache_bytes / (element * single.elements() / single.rows);
  shape.tile = middle;
  if (rows >= tile_layout(p, shape, block_rows).rows) return shape;
  const std::int64_t room = rows - (single.rows - 1);
  shape.tile = room < 1 ? 0 : even_chunk(middle, room, 1);
  return shape;
}

}  // namespace tessera::cpu
