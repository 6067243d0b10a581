// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

constexpr int kLeastDepth = 2;  ///< with an exchange for each step, passes over memory are as fast
constexpr std::int64_t kMostSteps = std::int64_t(1) << 30;  ///< rounds are counted in 32 bits

bool closed(const StencilProblem& p, int axis) { return p.domain.mode[axis][0] != TESSERA_BOUNDARY_PERIODIC; }

/// The fewest tiles of `size` points that cover the axis, at most `most`.
std::optional<PersistentTiling> cover(const StencilProblem& p, int axis, int size, int halo, int alignment, int most) {
  const int extent = int(p.domain.extents[axis]);
  for (int count = plugin::ceil_div(extent, size); count <= most; ++count) {  // fewer would not even touch
    const PersistentTiling tiling{extent, count, size, halo, alignment, closed(p, axis)};
    if (tiling.valid()) return tiling;
  }
  return std::nullopt;
}

/// Cycles of a step: the rows of the busiest schedulers, and waiting for the other warps. A warp's outer rows take
/// longer. Few warps leave their schedulers idle at times, the more so the fewer registers are left to hide latencies.
double step_cycles(const StencilProblem& p, const TemporalTaps& taps, const PersistentLayout& layout,
                   const PersistentCosts& costs) {
  const bool wide = value_bytes(p.dtype) == 8;
  const double slower = wide ? 1.7 : 1.0, full_rows = wide ? 8.0 : 16.0;
  const double row = slower * (costs.row + costs.tap * double(p.taps.size()) + costs.neighbour * 2.0 * taps.radius);
  const int warps = plugin::round_up(layout.warps, 4);
  const double idle = layout.rows >= full_rows ? 1.0 + costs.idle_full / (warps * warps)
                      : warps == 4             ? costs.idle_few
                                               : 1.0;
  return costs.step + idle * row * warps * (layout.rows + costs.outer_rows * taps.radius);
}

/// Cycles of an exchange between two rounds.
double exchange_cycles(const PersistentLayout& layout, const PersistentCosts& costs) {
  const int warps = plugin::round_up(layout.warps, 4);
  const bool vectors = layout.column_tiling.alignment == kLaneColumns;
  return costs.exchange + (vectors ? costs.exchange_row : costs.exchange_half) * warps * layout.rows;
}

double seconds(const StencilProblem& p, const TemporalTaps& taps, const PersistentLayout& layout,
               const Machine& machine) {
  const PersistentCosts& costs = machine.stencil.persistent;
  const double rounds = double(TemporalPasses(p.steps, layout.depth).count());
  const double cycles =
      double(p.steps) * step_cycles(p, taps, layout, costs) + (rounds - 1.0) * exchange_cycles(layout, costs);
  return seconds_of({.launch = costs.launch,
                     .memory = all_cycles(machine, 2.0 * array_bytes(p) / costs.io_rate),
                     .computing = cycles / machine.clock_hz,
                     .overlap = 1.0},
                    machine);
}

/// "" or the axis that is too short for the smallest tile. The taps' reach must fit twice.
std::string why_too_short(const StencilProblem& p, const TemporalTaps& taps) {
  for (const int axis : {1, 2}) {
    std::int64_t least = 2 * taps.radius + 1;
    if (closed(p, axis)) least = axis == 2 ? kWarpColumns : std::max<std::int64_t>(least, 4);
    if (p.domain.extents[axis] < least)
      return "axis " + std::to_string(axis - 1) + " has " + std::to_string(p.domain.extents[axis]) +
             " points; it must have at least " + std::to_string(least);
  }
  return {};
}

/// "" where a block with the most warps fits the device, and blocks may wait for each other.
std::string why_no_room(const StencilProblem& p, const TemporalTaps& taps, const Machine& machine) {
  if (!machine.cooperative) return "this device has no cooperative launches";
  const int needed = kPersistentMostWarps * persistent_warp_bytes(taps.radius, value_bytes(p.dtype));
  if (needed < machine.shared_per_block) return {};
  return "a block needs " + std::to_string(needed) + " bytes of shared memory; this device has " +
         std::to_string(machine.shared_per_block);
}

/// The parameters that are tried.
struct Candidates {
  std::vector<std::int64_t> depths, rows, warps;
};

Candidates all_candidates(const StencilProblem& p, const TemporalTaps& taps) {
  const auto range = [](std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> values(std::size_t(last - first + 1));
    std::iota(values.begin(), values.end(), first);
    return values;
  };
  const std::int64_t deepest = std::min<std::int64_t>(kPersistentMostDepth, p.steps);
  const auto rows = persistent_rows(p.dtype, taps);
  return {range(std::min<std::int64_t>(kLeastDepth, deepest), deepest),
          {rows.begin(), rows.end()},
          range(1, kPersistentMostWarps)};
}

/// Calls visit(layout) for the layouts of which worth(layout) is true, without their row_tiling yet, and that cover the
/// domain, until it returns true. Returns whether it did.
template <class Worth, class Visit>
bool find_layout(const StencilProblem& p, const TemporalTaps& taps, int multiprocessors, const Candidates& candidates,
                 Worth&& worth, Visit&& visit) {
  const std::int64_t most_rows = *std::ranges::max_element(candidates.rows);
  if (p.points() > std::int64_t(multiprocessors) * kWarpColumns * kPersistentMostWarps * most_rows) return false;
  for (const std::int64_t depth : candidates.depths)
    for (const int alignment : {kLaneColumns, kLaneColumns / 2}) {
      const int reach = int(depth) * taps.radius, halo = plugin::round_up(reach, alignment);
      const auto columns = cover(p, 2, kWarpColumns, halo, alignment, multiprocessors);
      if (!columns) continue;
      for (const std::int64_t rows : candidates.rows)
        for (const std::int64_t warps : candidates.warps) {
          PersistentLayout layout{int(rows), int(warps), int(depth), {}, *columns};
          if (!worth(layout)) continue;
          const auto tiles = cover(p, 1, int(rows * warps), reach, 1, multiprocessors / columns->count);
          if (!tiles) continue;
          layout.row_tiling = *tiles;
          if (visit(layout)) return true;
        }
    }
  return false;
}

/// The layout of least time for each depth.
std::vector<std::pair<double, PersistentLayout>> fastest_layouts(const StencilProblem& p, const TemporalTaps& taps,
                                                                 const Machine& machine, const Candidates& candidates) {
  std::vector<std::pair<double, PersistentLayout>> fastest;
  double time = 0.0;
  const auto first = [&](const PersistentLayout& layout) {
    return fastest.empty() || fastest.back().second.depth != layout.depth;
  };
  const auto worth = [&](const PersistentLayout& layout) {
    time = seconds(p, taps, layout, machine);
    return first(layout) || time < fastest.back().first;
  };
  find_layout(p, taps, machine.multiprocessors, candidates, worth, [&](const PersistentLayout& layout) {
    if (first(layout)) fastest.emplace_back();
    fastest.back() = {time, layout};
    return false;
  });
  return fastest;
}

}  // namespace

PersistentLayout persistent_layout(const StencilProblem& problem, const TemporalTaps& taps, const Machine& machine,
                                   const plugin::Parameters& parameters) {
  const Candidates one{{parameters.at("depth")}, {parameters.at("rows")}, {parameters.at("warps")}};
  return fastest_layouts(problem, taps, machine, one).at(0).second;
}

std::uint64_t persistent_workspace(const StencilProblem& problem, const PersistentLayout& layout) {
  if (TemporalPasses(problem.steps, layout.depth).count() <= 1) return 0;
  return 2 * std::uint64_t(layout.blocks()) * std::uint64_t(layout.row_tiling.size) * kWarpColumns *
         std::uint64_t(value_bytes(problem.dtype));
}

void offer_persistent(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                      std::uint64_t, plugin::OfferList& offers) {
  const TemporalTaps taps = *temporal_taps(p);
  Candidates candidates = all_candidates(p, taps);
  candidates.depths = given.in_range("depth", candidates.depths, 1, kPersistentMostDepth);
  candidates.rows = given.one_of("rows", candidates.rows);
  candidates.warps = given.in_range("warps", candidates.warps, 1, kPersistentMostWarps);
  const auto layouts = fastest_layouts(p, taps, machine, candidates);
  for (const auto& [time, layout] : layouts)
    offers.add({{{"depth", layout.depth}, {"rows", layout.rows}, {"warps", layout.warps}},
                time,
                persistent_workspace(p, layout)});
  if (layouts.empty())
    throw plugin::Error(TESSERA_INVALID_ARGUMENT, "no " + std::to_string(machine.multiprocessors) +
                                                      " blocks with the given depth, rows and warps cover the domain");
}

std::string why_not_persistent(const StencilProblem& p, const Machine& machine) {
  if (p.rank != 2) return "the domain has rank " + std::to_string(p.rank) + "; there are kernels for rank 2";
  if (p.steps < 1 || p.steps > kMostSteps)
    return "steps = " + std::to_string(p.steps) + "; it must lie in [1, " + std::to_string(kMostSteps) + "]";
  if (const std::string why = why_not_fused(p); !why.empty()) return why;
  const std::optional<TemporalTaps> taps = temporal_taps(p);
  if (!taps || (taps->box && taps->radius > 1))
    return "these taps have no kernel: there are some for the star of radius 1 and 2 and the box of radius 1, each tap "
           "once";
  if (const std::string why = why_too_short(p, *taps); !why.empty()) return why;
  if (const std::string why = why_no_room(p, *taps, machine); !why.empty()) return why;
  const auto any = [](const PersistentLayout&) { return true; };
  if (find_layout(p, *taps, machine.multiprocessors, all_candidates(p, *taps), any, any)) return {};
  const auto rows = persistent_rows(p.dtype, *taps);
  return "no more than " + std::to_string(machine.multiprocessors) + " tiles of " + std::to_string(kWarpColumns) +
         " columns and " + std::to_string(rows[0]) + " to " +
         std::to_string(kPersistentMostWarps * rows[rows.size() - 1]) + " rows, which overlap, must cover the " +
         std::to_string(p.domain.extents[1]) + " x " + std::to_string(p.domain.extents[2]) + " points";
}

}  // namespace tessera::cuda
