// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_shape.hpp"

#include "../caches.hpp"
#include "../cost.hpp"
#include "bundle_kernel.hpp"
#include "temporal_axis.hpp"

#include <algorithm>
#include <utility>

namespace tessera::cpu {
namespace {

using plugin::StencilProblem;

constexpr std::int64_t kDeepest = 32;
/// Planes of one row that a level computes at a time, which read most rows from the first-level cache (measured: 4
/// 1.25 times as fast as 1, 8 no faster).
constexpr std::int64_t kRowGroup = 4;
static_assert(kRowGroup <= kMostPlanes && kBundlePlanes <= kMostPlanes);
/// Bytes. Longer rows of a group do not fit in a first-level cache together.
constexpr std::int64_t kLongestRow = 8192;
constexpr std::int64_t kShortestRow = 128;  ///< points

/// What a tile does for each point of its core in a pass, or in a step of it.
struct Overlap {
  double loaded;          ///< points, in a pass
  double computed, rows;  ///< points and rows, in a step
};

Overlap overlap(const StencilProblem& p, const TemporalShape& s) {
  const TileAxis middle(p.domain, 1), along(p.domain, 2);
  const double core = double(s.tile) * double(s.width), depth = double(s.depth);
  Overlap result{};
  for (std::int64_t left = s.depth; left >= 0; --left) {
    // A tile in the middle of the domain; one that spans the axis has margins only where it is periodic.
    const auto grown = [&](const TileAxis& axis, std::int64_t n) {
      return n >= axis.extent() && !axis.endless() ? n : n + 2 * left * axis.radius();
    };
    const double height = double(grown(middle, s.tile)), points = height * double(grown(along, s.width));
    if (left == s.depth) result.loaded = points / core;
    if (left < s.depth) result.computed += points / core / depth, result.rows += height / core / depth;
  }
  return result;
}

/// Estimated time of a point and step, in multiply-adds of one point, of which a core does about 20 in a nanosecond of
/// f64 in its second-level cache.
double cost(const StencilProblem& p, const TemporalShape& s) {
  // Beside its taps a row takes 80 ns of calls and ends, a point a load and a store; memory moves 8 bytes in 0.8 ns.
  constexpr double kRow = 1600.0, kPoint = 4.0, kMemory = 16.0;
  const auto [loaded, computed, rows] = overlap(p, s);
  return computed * (double(p.taps.size()) + kPoint) + rows * kRow + (loaded + 1.0) * kMemory / double(s.depth);
}

/// n cut into equal pieces of at most `most`, in whole multiples of `unit`.
std::int64_t even_piece(std::int64_t n, std::int64_t most, std::int64_t unit) {
  const std::int64_t pieces = (n + most - 1) / most, piece = (n + pieces - 1) / pieces;
  return std::min(n, (piece + unit - 1) / unit * unit);
}

}  // namespace

StencilProblem streamed(StencilProblem p) {
  if (p.rank != 2) return p;
  std::swap(p.domain.extents[0], p.domain.extents[1]);
  std::swap(p.domain.reach[0], p.domain.reach[1]);
  std::swap(p.domain.mode[0], p.domain.mode[1]);
  std::swap(p.domain.value[0], p.domain.value[1]);
  std::swap(p.in_strides[0], p.in_strides[1]);
  std::swap(p.out_strides[0], p.out_strides[1]);
  for (auto& tap : p.taps) std::swap(tap.offset[0], tap.offset[1]);
  return p;
}

std::int64_t rows_together(const StencilProblem& p) {
  std::vector<plugin::Tap> taps = p.taps;
  return several_rows_pay(group_taps(taps)) ? kSeveralRows : 1;
}

TileLayout tile_layout(const StencilProblem& p, const TemporalShape& s, std::int64_t unit) {
  const std::int64_t line = 64 / std::int64_t(plugin::size_of(p.dtype));
  const auto lines = [line](std::int64_t n) { return (n + line - 1) / line; };
  const TileAxis stream(p.domain, 0), middle(p.domain, 1), along(p.domain, 2);
  TileLayout layout{};
  layout.margin = lines(along.radius()) * line;
  const auto room = [&](const TileAxis& axis, std::int64_t n) {
    return std::min(n + 2 * s.depth * axis.radius(), axis.around({0, axis.extent()}, s.depth).size());
  };
  // Planes of several rows leave room for their followers row by row, others as a whole.
  const bool row_by_row = room(middle, s.tile) > 1;
  layout.bundles = row_by_row && stream.extent() >= kBundlePlanes;
  layout.group = layout.bundles ? kBundlePlanes : row_by_row ? 1 : std::min(kRowGroup, stream.extent());
  layout.unit = layout.bundles ? unit : 1;
  layout.plane_shift = row_by_row ? stream.radius() : stream.radius() + 1;
  layout.row_shift = row_by_row ? middle.radius() + layout.unit : 0;
  // The last level's planes wait for the next group until they are stored.
  layout.planes = s.depth * (stream.radius() + layout.plane_shift) + 2 * layout.group;
  layout.rows = room(middle, s.tile) + s.depth * layout.row_shift;
  // An odd number of lines, two of them for the ends: neighbouring rows start in different sets of the caches.
  layout.pitch = (lines(room(along, s.width)) + 2 + 2 * lines(along.radius())) / 2 * 2 * line + line;
  return layout;
}

TemporalShape choose_shape(const StencilProblem& p, std::int64_t cache_bytes) {
  const std::int64_t middle = p.domain.extents[1], along = p.domain.extents[2];
  const std::int64_t element = std::int64_t(plugin::size_of(p.dtype));
  TemporalShape best{1, std::max<std::int64_t>(middle, 1), std::clamp<std::int64_t>(along, 1, kLongestRow / element)};
  if (p.points() == 0) return best;
  const std::int64_t unit = rows_together(p);
  double least = cost(p, best);
  for (std::int64_t depth = 2; depth <= std::min(kDeepest, p.steps); ++depth)
    for (std::int64_t most = kLongestRow / element; most >= kShortestRow; most /= 2) {
      TemporalShape shape{depth, 1, even_piece(along, most, 64)};
      const TileLayout single = tile_layout(p, shape, unit);
      const std::int64_t rows = cache_bytes / (element * single.elements() / single.rows);
      shape.tile = middle;
      if (rows < tile_layout(p, shape, unit).rows) {
        const std::int64_t room = rows - (single.rows - 1);
        if (room < 1) continue;
        shape.tile = even_piece(middle, room, 1);
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
      (4.1 + 0.4 * taps) * computed + 0.7 + 25.0 * rows * line + 0.6 * memory * (loaded + 1.0) / double(s.depth);
  return pass < memory + 0.25 * taps;
}

bool temporal_pays(const StencilProblem& p, int threads) {
  if (p.steps < 2 || 2.0 * double(p.points()) * double(plugin::size_of(p.dtype)) <= double(caches().level2))
    return false;
  const StencilProblem turned = streamed(p);
  const TemporalShape shape = choose_shape(turned, tile_cache_bytes());
  const bool volume = turned.domain.extents[1] > 1;
  return shape.depth > 1 && (!volume || passes_beat_sweeps(turned, shape, threads));
}

}  // namespace tessera::cpu
