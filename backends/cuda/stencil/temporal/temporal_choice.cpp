// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal.hpp"

#include "../tap_shape.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

constexpr std::int64_t kMostExtent = std::int64_t(1) << 30;  ///< indices of an axis are 32-bit in the kernels

bool periodic(const StencilProblem& p, int axis, int side) {
  return p.domain.mode[axis][side] == TESSERA_BOUNDARY_PERIODIC;
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

std::string why_not_fused(const StencilProblem& p) {
  for (int axis = plugin::kAxes - p.rank; axis < plugin::kAxes; ++axis)
    for (int side = 0; side < 2; ++side) {
      if (p.domain.mode[axis][side] == TESSERA_BOUNDARY_HALO) return "a halo holds the ghost points of a single step";
      if (periodic(p, axis, side) && !periodic(p, axis, 1 - side))
        return "axis " + std::to_string(axis - plugin::kAxes + p.rank) + " is periodic on one side alone, and " +
               plugin::boundary_name(p.domain.mode[axis][1 - side]) + " on the other";
    }
  return {};
}

std::string why_not_temporal(const StencilProblem& p) {
  if (const std::string why = why_not_fused(p); !why.empty()) return why;
  const std::optional<TemporalTaps> taps = temporal_taps(p);
  const TemporalTuning tuning = taps ? temporal_tuning(p.dtype, *taps) : TemporalTuning{};
  if (tuning.depth == 0)
    return "these taps have no kernel: there are some for the star of radius 1 to 4 in 1D, 1 and 2 in 2D and 1 in 3D, "
           "and the box of radius 1 in 2D and 3D, each tap once";
  const int first = plugin::kAxes - p.rank;
  for (int axis = first; axis < plugin::kAxes; ++axis) {
    std::int64_t least = 2 * taps->radius + 1;
    if (!periodic(p, axis, 0) && p.rank == 1) least = line_width(p.dtype);
    if (!periodic(p, axis, 0) && axis > first) least = axis == 2 ? kWarpColumns : tuning.height();
    const std::int64_t extent = p.domain.extents[axis];
    if (extent < least || extent > kMostExtent)
      return "axis " + std::to_string(axis - first) + " has " + std::to_string(extent) + " points; it must have " +
             std::to_string(least) + " to " + std::to_string(kMostExtent);
  }
  return {};
}

bool temporal_pays(const StencilProblem& p) {
  if (!why_not_temporal(p).empty()) return false;
  // On the 27 points in f64 the multiply-adds bind, and a pass has one step.
  if (p.rank == 3 && p.dtype == TESSERA_F64 && p.taps.size() > 7) return p.points() >= std::int64_t(1) << 28;
  if (p.rank == 1) return p.steps > 1;
  // The first and last rows take longer, and in a small domain every pass waits for them.
  constexpr std::int64_t kLeastClosed = std::int64_t(1) << 20, kLeastPeriodic = std::int64_t(1) << 17;
  const bool open = periodic(p, plugin::kAxes - p.rank, 0);
  // A single step needs one launch where streaming needs two, which shows in small volumes.
  if (p.steps < 2 && (p.rank < 3 || !open || p.points() > std::int64_t(1) << 20)) return false;
  return p.points() >= (open ? kLeastPeriodic : kLeastClosed);
}

TemporalLayout choose_layout(const StencilProblem& p, const TemporalTaps& taps, int depth, const TemporalDevice& device,
                             int chunk) {
  const int reach = depth * taps.radius, sweep = int(p.domain.extents[plugin::kAxes - taps.rank]);
  TemporalLayout layout{};
  layout.columns = {int(p.domain.extents[2]), kWarpColumns, plugin::round_up(reach, kLaneColumns), kLaneColumns,
                    !periodic(p, 2, 0)};
  layout.column_tiles = layout.columns.count();
  layout.row_tiles = 1;
  if (taps.rank == 3) {
    layout.rows = {int(p.domain.extents[1]), temporal_tuning(p.dtype, taps).height(), reach, 1, !periodic(p, 1, 0)};
    layout.row_tiles = layout.rows.count();
  }
  // A warp alone on one of a multiprocessor's four schedulers leaves it idle at times. At the end some blocks have no
  // chunk left: a part of a chunk's time is lost, as measured.
  const bool warps = taps.rank == 2;
  const double schedulers = warps ? 4.0 : 1.0, alone = warps ? 1.6 : 1.0, tail = warps ? 0.2 : 0.5;
  double least = 0.0;
  const auto consider = [&](int chunks) {
    const int size = plugin::ceil_div(sweep, chunks);
    const double blocks = std::ceil(double(layout.column_tiles) * layout.row_tiles * chunks / device.multiprocessors);
    const double together = std::min(blocks, double(device.blocks_per_sm));
    const double time = (blocks / together + tail) * std::max(alone, together / schedulers) * (size + 2 * reach);
    if (layout.chunks != 0 && time >= least) return;
    least = time;
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
