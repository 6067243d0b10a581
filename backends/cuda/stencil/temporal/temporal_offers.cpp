// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal.hpp"

#include <tessera/plugin/math.hpp>

#include "../tap_shape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

constexpr std::int64_t kMostExtent = std::int64_t(1) << 30;  ///< indices of an axis are 32-bit in the kernels

/// Both sides are, or none.
bool periodic(const StencilProblem& p, int axis) { return p.domain.mode[axis][0] == TESSERA_BOUNDARY_PERIODIC; }

/// Whether a warp's columns can be loaded and stored 16 bytes at a time.
bool uses_vectors(const StencilProblem& p) {
  const bool contiguous = p.in_strides[2] == 1 && p.out_strides[2] == 1;
  return contiguous && p.domain.extents[2] % kLaneColumns == 0 && rows_aligned(p);
}

/// Seconds of a pass in 2D or 3D. The busiest scheduler (in 3D: multiprocessor) loads rows, and computes `depth` steps
/// of each. Near a closed end of the sweep axis rows run a longer code, one after another. Memory is used meanwhile.
double pass_seconds(const StencilProblem& p, const TemporalTaps& taps, int depth, int chunk, const Machine& machine) {
  const StencilCosts& all = machine.stencil;
  const bool wide = value_bytes(p.dtype) == 8, rounded = plugin::size_of(p.dtype) == 2;
  const TemporalTileCosts& costs = taps.rank == 3 ? all.temporal_3d : wide ? all.temporal_2d_f64 : all.temporal_2d;
  const TemporalLayout layout = choose_layout(p, taps, depth, machine.multiprocessors, chunk);
  const double rows = temporal_tuning(p.dtype, taps).height();  // 1 in 2D
  const double multiply_adds = double(kLaneColumns) * double(p.taps.size());
  const double rounding = taps.rank == 2 && rounded ? all.temporal_2d_narrow : 0.0;
  const double step = costs.step + rounding + costs.multiply_add * multiply_adds;
  const double row =
      (costs.row + (uses_vectors(p) ? 0.0 : costs.unaligned)) * (taps.rank == 3 ? arithmetic(p, machine) : 1.0);
  const bool sides = !periodic(p, 2) || (taps.rank == 3 && !periodic(p, 1));
  const bool ends = !periodic(p, plugin::kAxes - taps.rank);
  double cycles = layout.busiest * rows * (row + depth * step) * (sides ? costs.closed : 1.0);
  if (ends) cycles += (depth + 1.0) * taps.radius * depth * taps.radius * costs.end;
  return seconds_of({.memory = costs.memory * copy_seconds(p, machine),
                     .computing = cycles / machine.clock_hz,
                     .overlap = costs.overlap},
                    machine);
}

/// Of all passes, whose depths differ by a step at most.
template <class PassSeconds>
double passes_seconds(const StencilProblem& p, int depth, PassSeconds&& pass_seconds_of) {
  const TemporalPasses passes(p.steps, depth);
  if (passes.count() == 0) return 0.0;
  const std::int64_t deepest = passes.depth(passes.count() - 1), deep = p.steps - (deepest - 1) * passes.count();
  const double shallower = double(passes.count() - deep);
  return double(deep) * pass_seconds_of(int(deepest)) +
         (shallower > 0.0 ? shallower * pass_seconds_of(int(deepest) - 1) : 0.0);
}

std::uint64_t workspace(const StencilProblem& p, int depth) {
  StencilProblem passes = p;
  passes.steps = TemporalPasses(p.steps, depth).count();
  return passes.sweep_workspace();
}

/// The depths of least time of a line, of which there are hundreds.
void offer_line(const StencilProblem& p, const TemporalTaps& taps, const Machine& machine,
                const plugin::GivenParameters& given, plugin::OfferList& offers) {
  constexpr std::size_t kMostOffers = 8;
  const std::int64_t deepest = most_line_depth(taps.radius, p.dtype);
  const auto depths = given.in_range("depth", useful_depths(p.steps, deepest), 1, deepest);
  std::vector<std::pair<double, std::int64_t>> times;
  for (const std::int64_t depth : depths)
    times.emplace_back(
        passes_seconds(p, int(depth), [&](int steps) { return line_pass_seconds(p, taps.radius, steps, machine); }),
        depth);
  const std::size_t most = std::min(times.size(), kMostOffers);
  std::ranges::partial_sort(times, times.begin() + std::ptrdiff_t(most));
  times.resize(most);
  for (const auto& [seconds, depth] : times) offers.add({{{"depth", depth}}, seconds, workspace(p, int(depth))});
}

/// Of a point near a closed end of the axis along which tiles advance, what lies beyond that end is added when what it
/// stands for arrives, or all at once where it is constant. In 1D the whole row is there.
std::string why_not_in_order(const StencilProblem& p) {
  const int axis = plugin::kAxes - p.rank;
  if (!p.ordered || p.rank == 1 || periodic(p, axis)) return {};
  for (const std::int32_t mode : p.domain.mode[axis])
    if (mode != TESSERA_BOUNDARY_FIXED) return "adds what lies beyond the ends of axis 0 in an order of its own";
  return {};
}

}  // namespace

std::optional<TemporalTaps> temporal_taps(const StencilProblem& p) {
  constexpr TapPattern kStar = TapPattern::star, kBox = TapPattern::box;
  using Known = TapShapes<TapShape<kStar, 2, 1>, TapShape<kStar, 2, 2>, TapShape<kStar, 3, 1>, TapShape<kStar, 3, 2>,
                          TapShape<kBox, 2, 1>, TapShape<kBox, 2, 2>, TapShape<kBox, 3, 1>, TapShape<kBox, 3, 2>>;
  std::optional<TemporalTaps> taps;
  const auto note = [&]<class Shape>(Shape, const auto&) {
    taps = {Shape::kRank, Shape::kPattern == kBox, Shape::kRadius};
  };
  with_shape<double>(LineShapes{}, p, note) || with_shape<double>(Known{}, p, note);
  return taps;
}

std::vector<std::int64_t> useful_depths(std::int64_t steps, std::int64_t deepest) {
  std::vector<std::int64_t> depths(std::size_t(std::clamp<std::int64_t>(steps, 1, deepest)));
  std::iota(depths.begin(), depths.end(), 1);
  std::erase_if(depths, [&](std::int64_t depth) {
    return steps > 0 && plugin::ceil_div(steps, plugin::ceil_div(steps, depth)) != depth;
  });
  return depths;
}

std::string why_not_fused(const StencilProblem& p) {
  for (const auto& sides : p.domain.mode)
    for (const std::int32_t mode : sides)
      if (mode == TESSERA_BOUNDARY_HALO) return "a halo holds the ghost points of a single step";
  return {};
}

std::string why_not_temporal(const StencilProblem& p, const Machine& machine) {
  if (const std::string why = why_not_fused(p); !why.empty()) return why;
  if (const std::string why = why_not_in_order(p); !why.empty()) return why;
  const std::optional<TemporalTaps> taps = temporal_taps(p);
  const TemporalTuning tuning = taps ? temporal_tuning(p.dtype, *taps) : TemporalTuning{};
  if (tuning.depth == 0)
    return "these taps have no kernel: there are some for the star of radius 1 to 4 in 1D, 1 and 2 in 2D and 1 in 3D, "
           "and the box of radius 1 in 2D and 3D, each tap once";
  const int first = plugin::kAxes - p.rank;
  for (int axis = first; axis < plugin::kAxes; ++axis) {
    std::int64_t least = 2 * taps->radius + 1;
    if (!periodic(p, axis) && p.rank == 1) least = line_width(p.dtype);
    if (!periodic(p, axis) && axis > first) least = axis == 2 ? kWarpColumns : tuning.height();
    const std::int64_t extent = p.domain.extents[axis];
    if (extent < least || extent > kMostExtent)
      return "axis " + std::to_string(axis - first) + " has " + std::to_string(extent) + " points; it must have " +
             std::to_string(least) + " to " + std::to_string(kMostExtent);
  }
  const int needed = p.rank == 3 ? tile25d_bytes(tuning, int(plugin::size_of(p.dtype)), value_bytes(p.dtype)) : 0;
  if (needed <= machine.shared_per_block) return {};
  return "a block needs " + std::to_string(needed) + " bytes of shared memory; this device has " +
         std::to_string(machine.shared_per_block);
}

void offer_temporal(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                    std::uint64_t, plugin::OfferList& offers) {
  const TemporalTaps taps = *temporal_taps(p);
  if (taps.rank == 1) return offer_line(p, taps, machine, given, offers);
  const std::int64_t deepest = temporal_tuning(p.dtype, taps).depth;
  const auto depths = given.in_range("depth", useful_depths(p.steps, deepest), 1, deepest);
  const std::int64_t chunk = given.in_range("chunk", 0, 0, p.domain.extents[plugin::kAxes - taps.rank]);
  for (const std::int64_t depth : depths) {
    const double seconds =
        passes_seconds(p, int(depth), [&](int steps) { return pass_seconds(p, taps, steps, int(chunk), machine); });
    offers.add({{{"depth", depth}, {"chunk", chunk}}, seconds, workspace(p, int(depth))});
  }
}

TemporalLayout choose_layout(const StencilProblem& p, const TemporalTaps& taps, int depth, int multiprocessors,
                             int chunk) {
  const TemporalTuning tuning = temporal_tuning(p.dtype, taps);
  const int reach = depth * taps.radius, sweep = int(p.domain.extents[plugin::kAxes - taps.rank]);
  TemporalLayout layout{};
  layout.columns = {int(p.domain.extents[2]), kWarpColumns, plugin::round_up(reach, kLaneColumns), kLaneColumns,
                    !periodic(p, 2)};
  layout.column_tiles = layout.columns.count();
  layout.row_tiles = 1;
  if (taps.rank == 3) {
    layout.rows = {int(p.domain.extents[1]), tuning.height(), reach, 1, !periodic(p, 1)};
    layout.row_tiles = layout.rows.count();
  }
  // A warp alone on one of a multiprocessor's four schedulers leaves it idle at times. At the end some blocks have no
  // chunk left: a part of a chunk's time is lost, as measured.
  const bool warps = taps.rank == 2;
  const double schedulers = warps ? 4.0 : 1.0, alone = warps ? 1.6 : 1.0, tail = warps ? 0.2 : 0.5;
  const auto consider = [&](int chunks) {
    const int size = plugin::ceil_div(sweep, chunks);
    const double blocks = std::ceil(double(layout.column_tiles) * layout.row_tiles * chunks / multiprocessors);
    const double together = std::min(blocks, double(tuning.blocks_per_sm));
    const double busiest = (blocks / together + tail) * std::max(alone, together / schedulers) * (size + 2 * reach);
    if (layout.chunks != 0 && busiest >= layout.busiest) return;
    layout.busiest = busiest;
    layout.chunk = size;
    layout.chunks = plugin::ceil_div(sweep, size);
  };
  if (chunk != 0)
    consider(plugin::ceil_div(sweep, chunk));
  else
    for (int chunks = 1; chunks <= std::min(sweep, 1024); ++chunks) consider(chunks);
  return layout;
}

}  // namespace tessera::cuda
