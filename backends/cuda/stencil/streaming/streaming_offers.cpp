// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../offers.hpp"
#include "streaming_list.hpp"
#include "streaming_shapes.hpp"
#include "streaming_tiling.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// What a sweep in tiles does.
struct TileWork {
  bool interior = false;    ///< some points lie in tiles, so that there is a launch for them
  double lines = 0.0;       ///< of 128 bytes that the tiles' warps read, those of idle lanes with them
  double end_reads = 0.0;   ///< points that their warps at the ends of rows read one by one
  double row_ends = 0.0;    ///< ends of the tiles' rows that the shell has
  double row_points = 0.0;  ///< of these rows
  double frozen = 0.0;      ///< threads of the shell whose points keep their values,
  double computed = 0.0;    ///< and all others of it
  bool at_ends = false;     ///< some of these read beyond the ends of rows
};

/// Vectors and single points that a thread of a tile reads.
template <class Tile, class Shape>
constexpr int reads_of_thread() {
  constexpr int kHalo = kPointHalo<Tile, Shape> ? Shape::kRadius : plugin::ceil_div(Shape::kRadius, Tile::kWidth);
  int reads = 0;
  for (int z = -Shape::reach(0); z < Tile::kPlanes + Shape::reach(0); ++z)
    for (int y = -Shape::reach(1); y < Tile::kRows + Shape::reach(1); ++y)
      if (reads_row<Shape>(Tile::kPlanes, Tile::kRows, z, y, true))
        reads += 1 + 2 * kHalo;
      else if (reads_row<Shape>(Tile::kPlanes, Tile::kRows, z, y, false))
        ++reads;
  return reads;
}

template <class T, class Tile, class Shape>
void add_interior(const PointBox& box, TileWork& work) {
  constexpr int kLanes = std::min(Tile::kThreadsX, 32), kPoints = kLanes * Tile::kWidth,
                kReads = reads_of_thread<Tile, Shape>();
  constexpr double kLine = 128.0, kWarp = 32.0;
  const double threads =
      double(plugin::ceil_div(box.extent(0), Tile::kPlanes)) * double(plugin::ceil_div(box.extent(1), Tile::kRows));
  const double along = double(plugin::ceil_div(box.end[2], kPoints) - box.begin[2] / kPoints);
  work.interior = true;
  work.lines = threads * along * kReads * kPoints * sizeof(T) / kLine;
  if (kWholeRows<Tile, Shape> && !kPointHalo<Tile, Shape>)
    work.end_reads = threads * std::min(along, 2.0) * kLanes / kWarp * Tile::kPlanes * Tile::kRows * 2 * Shape::kRadius;
}

/// Of a box of the shell, with threads of `width` points that read `halo` ones on either side.
void add_shell(const plugin::Domain& domain, const PointBox& box, int width, int halo, TileWork& work) {
  PointBox computed = box;
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    std::int64_t &begin = computed.begin[axis], &end = computed.end[axis];
    if (domain.mode[axis][0] == TESSERA_BOUNDARY_FIXED) begin = std::max(begin, domain.plain_begin(axis));
    if (domain.mode[axis][1] == TESSERA_BOUNDARY_FIXED) end = std::min(end, domain.plain_end(axis));
    end = std::max(begin, end);
  }
  const double rows = double(computed.extent(0)) * double(computed.extent(1));
  double threads = 0.0;
  if (rows * double(computed.extent(2)) > 0.0) {
    threads = rows * double(plugin::ceil_div(computed.end[2] - box.begin[2], width) -
                            (computed.begin[2] - box.begin[2]) / width);
    work.at_ends = work.at_ends || computed.begin[2] < halo || computed.end[2] > domain.extents[2] - halo;
  }
  work.computed += threads;
  work.frozen +=
      double(box.extent(0)) * double(box.extent(1)) * double(plugin::ceil_div(box.extent(2), width)) - threads;
}

template <class T, class Tile, class Shape>
TileWork tile_work(const plugin::Domain& domain) {
  TileWork work;
  const PointBox box = interior_box<Tile, Shape>(domain);
  const double rows = double(box.extent(0)) * double(box.extent(1));
  if (rows > 0.0) add_interior<T, Tile, Shape>(box, work);
  const StreamingShell shell = shell_around(domain, box, Tile::kWidth);
  for (const PointBox& part : shell.box)
    add_shell(domain, part, Tile::kWidth, plugin::round_up(Shape::kRadius, Tile::kWidth), work);
  work.row_ends = rows * ((box.begin[2] > 0) + (box.end[2] < domain.extents[2]));
  work.row_points = rows * double(domain.extents[2]);
  return work;
}

/// The same of the tiles for the problem's rows; none where these are not aligned, and only aligned rows have tiles.
template <class T, class Shape>
std::optional<TileWork> tile_work(const StencilProblem& p) {
  using Tiles = StreamingTiles<T, Shape>;
  if (rows_aligned(p)) return tile_work<T, typename Tiles::Aligned, Shape>(p.domain);
  if constexpr (std::is_void_v<typename Tiles::Unaligned>)
    return std::nullopt;
  else
    return tile_work<T, typename Tiles::Unaligned, Shape>(p.domain);
}

/// Of a sweep in tiles. Warps read rows again for each of their tiles, whatever lanes have points there, from the
/// first-level cache. A thread of the shell finds the taps that leave the domain one after another, the more the
/// farther they reach, and with a far reach fewer of them are under way. The shell reads and writes ends of rows alone,
/// which moves whole lines, at most the whole row once more.
template <class T, class Shape>
double tile_seconds(const StencilProblem& p, const TileWork& work, const Machine& machine) {
  const StreamingTileCosts& costs = machine.stencil.streaming_tile;
  const double reach = 2.0 * Shape::kRank * Shape::kRadius, evicted = evicted_part(p, machine);
  const double row_ends = std::min(costs.row_end * work.row_ends, 2.0 * sizeof(T) * work.row_points);
  const double memory = costs.memory * (copy_seconds(p, machine) + evicted * row_ends / machine.memory_rate);
  const double reading = all_cycles(machine, costs.line * work.lines + costs.end_read * work.end_reads);
  const bool narrow = plugin::size_of(p.dtype) == 2;
  const double unaligned = rows_aligned(p) || narrow ? 0.0 : costs.unaligned * double(p.points());
  const double shell = costs.shell_frozen * reach * reach * work.frozen + costs.shell_reach * reach * work.computed;
  const double latency =
      work.computed > 0.0 ? (work.at_ends ? costs.end_latency * (narrow ? 2.0 : 1.0) : costs.plane_latency) : 0.0;
  const bool two = !kOneLaunch<T, Shape> && work.interior && work.frozen + work.computed > 0.0;
  return seconds_of(
      {.launch = costs.launch + (two ? costs.second : 0.0) + costs.first / double(std::max<std::int64_t>(p.steps, 1)),
       .memory = memory,
       .computing = reading,
       .overlap = costs.overlap,
       .wait = all_cycles(machine, unaligned + shell) + latency * reach * reach},
      machine);
}

/// The same where the taps are a shape and its tiles take the rows.
std::optional<double> tile_seconds(const StencilProblem& p, const Machine& machine) {
  return with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    std::optional<double> seconds;
    const auto visit = [&]<class Shape>(Shape, const auto&) {
      if (const auto work = tile_work<T, Shape>(p)) seconds = tile_seconds<T, Shape>(p, *work, machine);
    };
    if (!with_shape<Scalar<T>>(FlatShapes{}, p, visit)) with_shape<Scalar<T>>(VolumeShapes{}, p, visit);
    return seconds;
  });
}

/// Of a sweep of a list: its taps are read from the caches, by the narrow blocks at the ends of the rows more slowly.
double list_seconds(const StencilProblem& p, const Machine& machine) {
  const StreamingListCosts& costs = machine.stencil.streaming_list;
  const ListBlock block = list_block(p);
  const std::int64_t begin = plugin::round_up(p.domain.plain_begin(2), block.threads);
  const std::int64_t in_wide = std::max<std::int64_t>(p.domain.plain_end(2) - begin, 0) / block.points * block.points;
  const std::int64_t in_narrow = plugin::round_up(p.domain.extents[2] - in_wide, block.threads);
  const double rows = double(p.domain.extents[0]) * double(p.domain.extents[1]), taps = double(p.taps.size());
  const double wide = rows * double(in_wide), narrow = rows * double(in_narrow);
  const double edge = 32.0 * boundary_warps(p).count;
  const double cycles = taps * (costs.wide_tap * wide + costs.narrow_tap * narrow + costs.edge_tap * edge);
  return seconds_of({.launch = plugin::size_of(p.dtype) == 2 ? costs.narrow : costs.launch,
                     .memory = costs.memory * copy_seconds(p, machine),
                     .computing = all_cycles(machine, arithmetic(p, machine) * cycles),
                     .overlap = 1.0},
                    machine);
}

}  // namespace

std::string why_not_streaming(const StencilProblem& problem, const Machine&) {
  if (problem.in_strides[2] != 1 || problem.out_strides[2] != 1)
    return "the strides of axis " + std::to_string(problem.rank - 1) + " are " + std::to_string(problem.in_strides[2]) +
           " (in) and " + std::to_string(problem.out_strides[2]) + " (out): they must be 1";
  if (problem.taps.size() <= std::size_t(kStreamingMostTaps)) return {};
  return std::to_string(problem.taps.size()) + " taps: at most " + std::to_string(kStreamingMostTaps);
}

void offer_streaming(const StencilProblem& problem, const Machine& machine, const plugin::GivenParameters&,
                     std::uint64_t, plugin::OfferList& offers) {
  const std::optional<double> in_tiles = tile_seconds(problem, machine);
  offer_sweeps(problem, {}, in_tiles ? *in_tiles : list_seconds(problem, machine), offers);
}

}  // namespace tessera::cuda
