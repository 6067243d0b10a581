// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

constexpr std::int64_t kMostExtent = std::int64_t(1) << 30;  ///< indices of an axis are 32-bit in the kernels

const char* const kModeNames[] = {"fixed", "constant", "periodic", "nearest", "reflect", "mirror", "halo"};

bool periodic(const StencilProblem& p, int axis, int side) {
  return p.domain.mode[axis][side] == TESSERA_BOUNDARY_PERIODIC;
}

}  // namespace

std::optional<TemporalTaps> temporal_taps(const StencilProblem& p) {
  int radius = 0;
  for (const auto& sides : p.domain.reach)
    for (const auto reach : sides)
      radius = std::max(radius, int(std::min<std::int64_t>(reach, kTemporalMostRadius + 1)));
  if (radius < 1 || radius > kTemporalMostRadius) return std::nullopt;
  const std::set<plugin::Index3> offsets = [&] {
    std::set<plugin::Index3> set;
    for (const auto& tap : p.taps) set.insert(tap.offset);
    return set;
  }();
  if (offsets.size() != p.taps.size()) return std::nullopt;
  // Offsets are different and none exceeds the radius, so their number tells a box; a star has no diagonal ones beside.
  const std::size_t span = std::size_t(2 * radius + 1);
  std::size_t box = 1;
  for (int axis = 0; axis < p.rank; ++axis) box *= span;
  const bool diagonal = std::any_of(offsets.begin(), offsets.end(), [](const plugin::Index3& o) {
    return (o[0] != 0) + (o[1] != 0) + (o[2] != 0) > 1;
  });
  if (offsets.size() == box) return TemporalTaps{p.rank, p.rank > 1, radius};
  if (!diagonal && offsets.size() == std::size_t(2 * radius * p.rank + 1)) return TemporalTaps{p.rank, false, radius};
  return std::nullopt;
}

std::string why_not_temporal(const StencilProblem& p, int) {
  for (int axis = plugin::kAxes - p.rank; axis < plugin::kAxes; ++axis)
    for (int side = 0; side < 2; ++side) {
      if (p.domain.mode[axis][side] == TESSERA_BOUNDARY_HALO) return "a halo holds the ghost points of a single step";
      if (periodic(p, axis, side) && !periodic(p, axis, 1 - side))
        return "axis " + std::to_string(axis - plugin::kAxes + p.rank) + " is periodic on one side alone, and " +
               kModeNames[p.domain.mode[axis][1 - side]] + " on the other";
    }
  const std::optional<TemporalTaps> taps = temporal_taps(p);
  if (!taps || temporal_tuning(*taps, p.dtype == TESSERA_F64).depth == 0)
    return "these taps have no kernel: there are some for the 2D star of radius 1 and 2 and the 2D box of radius 1, "
           "each tap once";
  for (int axis = plugin::kAxes - p.rank; axis < plugin::kAxes; ++axis) {
    const std::int64_t least = axis == 2 && !periodic(p, axis, 0) ? kStripWidth : 2 * taps->radius + 1;
    const std::int64_t extent = p.domain.extents[axis];
    if (extent < least || extent > kMostExtent)
      return "axis " + std::to_string(axis - plugin::kAxes + p.rank) + " has " + std::to_string(extent) +
             " points; it must have " + std::to_string(least) + " to " + std::to_string(kMostExtent);
  }
  return {};
}

bool temporal_pays(const StencilProblem& p) { return p.steps > 1 && why_not_temporal(p, 0).empty(); }

StripPlan plan_strips(const StencilProblem& p, const TemporalTaps& taps, int depth, int multiprocessors, int resident,
                      int rows) {
  const int reach = depth * taps.radius, height = int(p.domain.extents[1]);
  StripPlan plan{{int(p.domain.extents[2]), kStripWidth, (reach + kStripColumns - 1) / kStripColumns * kStripColumns,
                  kStripColumns, !periodic(p, 2, 0)},
                 0,
                 0,
                 0};
  plan.strips = plan.cut.count();
  // A multiprocessor has four schedulers, and a warp alone on one leaves it idle at times. At the end some run out of
  // pieces: a fifth of a piece's time is lost, as measured.
  constexpr double kSchedulers = 4.0, kAlone = 1.6, kTail = 0.2;
  double least = 0.0;
  const auto consider = [&](int pieces) {
    const int piece_rows = (height + pieces - 1) / pieces;
    const double warps = std::ceil(double(plan.strips) * pieces / multiprocessors);
    const double together = std::min(warps, double(resident));
    const double piece_time = std::max(kAlone, together / kSchedulers) * (piece_rows + 2 * reach);
    const double time = (warps / together + kTail) * piece_time;
    if (plan.pieces != 0 && time >= least) return;
    least = time;
    plan.piece_rows = piece_rows;
    plan.pieces = (height + piece_rows - 1) / piece_rows;
  };
  if (rows != 0) {
    consider((height + rows - 1) / rows);
    return plan;
  }
  for (int pieces = 1; pieces <= std::min(height, 1024); ++pieces) consider(pieces);
  return plan;
}

}  // namespace tessera::cuda
