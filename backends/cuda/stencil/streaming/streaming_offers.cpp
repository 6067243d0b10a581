// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "streaming_offers.hpp"

#include <tessera/plugin/math.hpp>

#include "streaming_list.hpp"
#include "streaming_shapes.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// Points that belong to no tile. In volumes with aligned rows the points at the ends of rows belong to tiles.
double shell_points(const StencilProblem& p, bool aligned) {
  double inner = 1.0;
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    const bool whole = axis == 2 && p.rank == 3 && aligned;
    inner *= whole ? double(p.domain.extents[2]) : double(p.domain.plain_end(axis) - p.domain.plain_begin(axis));
  }
  return double(p.points()) - inner;
}

/// Of a sweep in tiles: memory binds, and in volumes the first-level cache, from which tiles read each other's points.
/// In the shell a thread finds the taps that leave the domain one after another, the more the farther they reach.
double tile_seconds(const StencilProblem& p, const Machine& machine) {
  const StreamingTileCosts& costs = type_costs(machine, p.dtype).streaming_tile;
  const bool aligned = rows_aligned(p);
  const double point =
      (p.rank == 3 ? costs.volume_tap * double(p.taps.size()) : 0.0) + (aligned ? 0.0 : costs.unaligned);
  const bool computed = boundary_warps(p).computed;
  double reach = 0.0;
  for (const auto& axis : p.domain.reach) reach += double(axis[0] + axis[1]);
  const double shell = computed ? costs.shell_reach * reach : costs.shell_point;
  const double latency = computed ? costs.shell_latency * reach : 0.0;
  return costs.launches + costs.memory * copy_seconds(p, machine) + latency +
         all_cycles(machine, double(p.points()) * point + shell_points(p, aligned) * shell);
}

/// Of a sweep of a list: its taps are read from the caches, by the narrow blocks at the ends of the rows more slowly.
double list_seconds(const StencilProblem& p, const Machine& machine) {
  const StreamingListCosts& costs = type_costs(machine, p.dtype).streaming_list;
  const ListBlock block = list_block(p);
  const std::int64_t begin = plugin::round_up(p.domain.plain_begin(2), block.threads);
  const std::int64_t in_wide = std::max<std::int64_t>(p.domain.plain_end(2) - begin, 0) / block.points * block.points;
  const std::int64_t in_narrow = plugin::round_up(p.domain.extents[2] - in_wide, block.threads);
  const double rows = double(p.domain.extents[0]) * double(p.domain.extents[1]), taps = double(p.taps.size());
  const double wide = rows * double(in_wide), narrow = rows * double(in_narrow);
  const double edge = 32.0 * boundary_warps(p).count;
  const double cycles = taps * (costs.wide_tap * wide + costs.narrow_tap * narrow + costs.edge_tap * edge);
  return costs.launch + costs.memory * copy_seconds(p, machine) + all_cycles(machine, cycles);
}

bool has_shape(const StencilProblem& p) {
  const auto seen = [](auto, const auto&) {};
  return with_shape<double>(FlatShapes{}, p, seen) || with_shape<double>(VolumeShapes{}, p, seen);
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
  offer_sweeps(problem, {}, has_shape(problem) ? tile_seconds(problem, machine) : list_seconds(problem, machine),
               offers);
}

}  // namespace tessera::cuda
