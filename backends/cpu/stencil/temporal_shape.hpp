// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the temporal algorithm cuts a domain, and when that pays.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// Steps of a pass, and the points of a tile on axes 1 and 2. Problems here have their sweep axis first.
struct TemporalShape {
  std::int64_t fused_steps, tile, width;
};

/// The shape of least estimated time whose tile fits in `cache_bytes`; one of a single step where none does.
TemporalShape choose_shape(const plugin::StencilProblem& problem, std::int64_t cache_bytes);

/// Bytes of a core's own cache, of which a tile should leave some.
std::int64_t tile_cache_bytes();

/// Whether passes over a volume are faster than single sweeps, by nanoseconds for a line of results and a step. What
/// blocks of rows take was fitted to 7 and 27 points on 100^3 to 512^3 in f32 and f64, with 1, 2 and 16 threads of a
/// Xeon: levels go to and fro between the first two caches, which takes as long as 7 multiply-adds, and share the
/// buffers that lines on their way from memory and to it need, so that little of that goes on at the same time.
bool passes_beat_sweeps(const plugin::StencilProblem& problem, const TemporalShape& shape, int threads);

/// Several steps over a domain that does not fit in a core's cache, with room for two steps or more in a tile; in
/// volumes only where that is faster than single sweeps, by what so many threads draw from memory.
bool temporal_pays(const plugin::StencilProblem& problem, int threads);

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
