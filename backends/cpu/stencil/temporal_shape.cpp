// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_shape.hpp"

#include "../caches.hpp"
#include "../cost.hpp"
#include "row_blocks.hpp"
#include "sweep_axis.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::round_up;
using plugin::StencilProblem;

constexpr std::int64_t kMostFusedSteps = 32;
/// Planes of one row that a level computes at a time. They read most rows from the first-level cache. Measured: 4 are
/// 1.25 times as fast as 1, 8 no faster.
constexpr std::int64_t kRowGroup = 4;
static_assert(kRowGroup <= kMostPlanes && kBlockPlanes <= kMostPlanes);
/// Bytes. Longer rows of a group do not fit in a first-level cache together.
constexpr std::int64_t kLongestRow = 8192;
constexpr std::int64_t kShortestRow = 128;  ///< points

/// What a tile does for each point of its core, in a pass or in a step of it.
struct Overlap {
  double loaded;          ///< points, in a pass
  double computed, rows;  ///< points and rows, in a step
};

Overlap overlap(const StencilProblem& p, const TemporalShape& s) {
  const TileAxis middle(p.domain, 1), along(p.domain, 2);
  const double core = double(s.tile) * double(s.width), steps = double(s.fused_steps);
  Overlap result{};
  for (std::int64_t left = s.fused_steps; left >= 0; --left) {
    // A tile in the middle of the domain; one that spans the axis has margins only where it is periodic.
    const auto grown = [&](const TileAxis& axis, std::int64_t n) {
      return n >= axis.extent() && !axis.endless() ? n : n + 2 * left * axis.radius();
    };
    const double height = double(grown(middle, s.tile)), points = height * double(grown(along, s.width));
    if (left == s.fused_steps) result.loaded = points / core;
    if (left < s.fused_steps) result.computed += points / core / steps, result.rows += height / core / steps;
  }
  return result;
}

/// Estimated time of a point and step, in multiply-adds of one point, of which a core does about 20 in a nanosecond of
/// f64 in its second-level cache.
double cost(const StencilProblem& p, const TemporalShape& s) {
  // Apart from its taps a row takes 80 ns of calls and ends, a point a load and a store; memory moves 8 bytes in 0.8 ns.
  constexpr double kRow = 1600.0, kPoint = 4.0, kMemory = 16.0;
  const auto [loaded, computed, rows] = overlap(p, s);
  return computed * (double(p.taps.size()) + kPoint) + rows * kRow + (loaded + 1.0) * kMemory / double(s.fused_steps);
}

/// n cut into equal chunks of at most `most`, in whole multiples of `unit`.
std::int64_t even_chunk(std::int64_t n, std::int64_t most, std::int64_t unit) {
  return std::min(n, round_up(ceil_div(n, ceil_div(n, most)), unit));
}

}  // namespace

TileLayout tile_layout(const StencilProblem& p, const TemporalShape& s, std::int64_t block_rows) {
  const std::int64_t line = 64 / std::int64_t(plugin::size_of(p.dtype));
  const auto lines = [line](std::int64_t n) { return ceil_div(n, line); };
  const TileAxis outer(p.domain, 0), middle(p.domain, 1), along(p.domain, 2);
  TileLayout layout{};
  layout.margin = lines(along.radius()) * line;
  const auto room = [&](const TileAxis& axis, std::int64_t n) {
    return std::min(n + 2 * s.fused_steps * axis.radius(), axis.around({0, axis.extent()}, s.fused_steps).size());
  };
  // Planes of several rows leave room for later planes row by row, others as a whole.
  const bool row_by_row = room(middle, s.tile) > 1;
  layout.blocks = row_by_row && outer.extent() >= kBlockPlanes;
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

TemporalShape choose_shape(const StencilProblem& p, std::int64_t cache_bytes) {
  const std::int64_t middle = p.domain.extents[1], along = p.domain.extents[2];
  const std::int64_t element = std::int64_t(plugin::size_of(p.dtype));
  TemporalShape best{1, std::max<std::int64_t>(middle, 1), std::clamp<std::int64_t>(along, 1, kLongestRow / element)};
  if (p.points() == 0) return best;
  const std::int64_t rows_of_block = block_rows(p);
  double least = cost(p, best);
  for (std::int64_t steps = 2; steps <= std::min(kMostFusedSteps, p.steps); ++steps)
    for (std::int64_t most = kLongestRow / element; most >= kShortestRow; most /= 2) {
      TemporalShape shape{steps, 1, even_chunk(along, most, 64)};
      const TileLayout single = tile_layout(p, shape, rows_of_block);
      const std::int64_t rows = cache_bytes / (element * single.elements() / single.rows);
      shape.tile = middle;
      if (rows < tile_layout(p, shape, rows_of_block).rows) {
        const std::int64_t room = rows - (single.rows - 1);
        if (room < 1) continue;
        shape.tile = even_chunk(middle, room, 1);
      }
      if (const double time = cost(p, shape); time < least) least = time, best = shape;
    }
  return best;
}

std::int64_t tile_cache_bytes() { return caches().level2 / 8 * 5; }

bool passes_beat_sweeps(const StencilProblem& p, const TemporalShape& s, int threads) {
  const double rate = std::min(kBytesPerThread, kBytesPerSocket / threads), taps = double(p.taps.size());
  const double memory = 2.0 * double(kLineBytes) / rate * 1e9;
  const double line = double(kLineBytes) / double(plugin::size_of(p.dtype));
  const auto [loaded, computed, rows] = overlap(p, s);
  const double pass =
      (4.1 + 0.4 * taps) * computed + 0.7 + 25.0 * rows * line + 0.6 * memory * (loaded + 1.0) / double(s.fused_steps);
  return pass < memory + 0.25 * taps;
}

bool temporal_pays(const StencilProblem& p, int threads) {
  if (p.steps < 2 || 2.0 * double(p.points()) * double(plugin::size_of(p.dtype)) <= double(caches().level2))
    return false;
  const StencilProblem swept = sweep_axis_first(p);
  const TemporalShape shape = choose_shape(swept, tile_cache_bytes());
  const bool volume = swept.domain.extents[1] > 1;
  return shape.fused_steps > 1 && (!volume || passes_beat_sweeps(swept, shape, threads));
}

}  // namespace tessera::cpu
