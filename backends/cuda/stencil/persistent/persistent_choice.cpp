// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

constexpr int kLeastDepth = 2;  ///< with an exchange for each step, passes over memory are as fast
constexpr std::int64_t kMostSteps = std::int64_t(1) << 30;  ///< rounds are counted in 32 bits

bool closed(const StencilProblem& p, int axis) { return p.domain.mode[axis][0] != TESSERA_BOUNDARY_PERIODIC; }

/// The fewest pieces of `size` points that cover the axis, at most `most`.
std::optional<ResidentCut> cover(const StencilProblem& p, int axis, int size, int margin, int unit, int most) {
  const int extent = int(p.domain.extents[axis]);
  for (int count = (extent + size - 1) / size; count <= most; ++count) {  // fewer would not even touch
    const ResidentCut cut{extent, count, size, margin, unit, closed(p, axis)};
    if (cut.fits()) return cut;
  }
  return std::nullopt;
}

/// Nanoseconds of a step on an H100, as fitted to measurements: rows of the busiest schedulers, waiting for the other
/// warps, and a share of the exchange. A warp's outer rows take longer. A warp alone on its scheduler leaves it idle at
/// times, the more the fewer registers are left to hide latencies with.
double step_time(const ResidentLayout& layout, const TemporalTaps& taps, bool f64) {
  constexpr double kStep = 60.0, kExchange = 1250.0, kOuterRow = 1.3;
  const double exchange_row = layout.column_cut.unit == kStripColumns ? 4.5 : 5.5;
  const double row = (taps.box ? 6.5 : taps.radius == 1 ? 4.4 : 6.9) * (f64 ? 1.7 : 1.0);
  const int warps = (layout.warps + 3) / 4 * 4;
  const bool full = layout.rows * (f64 ? 2 : 1) >= 16;
  const double idle = full ? 1.0 + 16.0 / (warps * warps) : warps == 4 ? 1.25 : 1.0;
  return kStep + idle * row * warps * (layout.rows + kOuterRow * taps.radius) +
         (kExchange + exchange_row * warps * layout.rows) / layout.depth;
}

/// "" or the axis that is too short for the smallest tile. The taps' reach must fit twice.
std::string why_too_short(const StencilProblem& p, const TemporalTaps& taps) {
  for (const int axis : {1, 2}) {
    std::int64_t least = 2 * taps.radius + 1;
    if (closed(p, axis)) least = axis == 2 ? kStripWidth : std::max<std::int64_t>(least, 4);
    if (p.domain.extents[axis] < least)
      return "axis " + std::to_string(axis - 1) + " has " + std::to_string(p.domain.extents[axis]) +
             " points; it must have at least " + std::to_string(least);
  }
  return {};
}

}  // namespace

std::optional<ResidentLayout> choose_resident(const StencilProblem& p, const TemporalTaps& taps, int multiprocessors,
                                              const ResidentWish& wish) {
  const bool f64 = p.dtype == TESSERA_F64;
  const auto all_rows = resident_rows(taps, f64);
  const std::int64_t most_points =
      std::int64_t(multiprocessors) * kStripWidth * kResidentMostWarps * all_rows[all_rows.size() - 1];
  std::optional<ResidentLayout> best;
  if (p.points() > most_points) return best;
  const auto wanted = [](int asked, int value) { return asked == 0 || asked == value; };
  const int deepest = wish.depth != 0 ? wish.depth : int(std::min<std::int64_t>(kResidentMostDepth, p.steps));
  for (int depth = wish.depth != 0 ? wish.depth : std::min(kLeastDepth, deepest); depth <= deepest; ++depth)
    for (const int unit : {kStripColumns, kStripColumns / 2}) {
      const int reach = depth * taps.radius, margin = (reach + unit - 1) / unit * unit;
      const auto columns = cover(p, 2, kStripWidth, margin, unit, multiprocessors);
      if (!columns) continue;
      for (const int rows : all_rows)
        for (int warps = 1; warps <= kResidentMostWarps; ++warps) {
          if (!wanted(wish.rows, rows) || !wanted(wish.warps, warps)) continue;
          const auto tiles = cover(p, 1, rows * warps, reach, 1, multiprocessors / columns->count);
          if (!tiles) continue;
          const ResidentLayout layout{rows, warps, depth, *tiles, *columns};
          if (!best || step_time(layout, taps, f64) < step_time(*best, taps, f64)) best = layout;
        }
    }
  return best;
}

std::string why_not_resident(const StencilProblem& p, int multiprocessors) {
  if (p.rank != 2) return "the domain has rank " + std::to_string(p.rank) + "; there are kernels for rank 2";
  if (p.steps < 1 || p.steps > kMostSteps)
    return "steps = " + std::to_string(p.steps) + "; it must lie in [1, " + std::to_string(kMostSteps) + "]";
  if (const std::string why = why_not_fused(p); !why.empty()) return why;
  const std::optional<TemporalTaps> taps = temporal_taps(p);
  if (!taps || (taps->box && taps->radius > 1))
    return "these taps have no kernel: there are some for the star of radius 1 and 2 and the box of radius 1, each tap "
           "once";
  if (const std::string why = why_too_short(p, *taps); !why.empty()) return why;
  if (choose_resident(p, *taps, multiprocessors)) return {};
  const auto rows = resident_rows(*taps, p.dtype == TESSERA_F64);
  return "no more than " + std::to_string(multiprocessors) + " tiles of " + std::to_string(kStripWidth) +
         " columns and " + std::to_string(rows[0]) + " to " +
         std::to_string(kResidentMostWarps * rows[rows.size() - 1]) + " rows, which overlap, must cover the " +
         std::to_string(p.domain.extents[1]) + " x " + std::to_string(p.domain.extents[2]) + " points";
}

bool resident_pays(const StencilProblem& p) { return p.steps >= 4 + p.points() / (std::int64_t(1) << 19); }

}  // namespace tessera::cuda
