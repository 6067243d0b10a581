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

/// The fewest tiles of `size` points that cover the axis, at most `most`.
std::optional<PersistentTiling> cover(const StencilProblem& p, int axis, int size, int halo, int alignment, int most) {
  const int extent = int(p.domain.extents[axis]);
  for (int count = plugin::ceil_div(extent, size); count <= most; ++count) {  // fewer would not even touch
    const PersistentTiling tiling{extent, count, size, halo, alignment, closed(p, axis)};
    if (tiling.valid()) return tiling;
  }
  return std::nullopt;
}

/// What a type costs in a step, of an f32's time and registers.
template <class T>
struct PersistentCost;
template <>
struct PersistentCost<float> {
  static constexpr double kRow = 1.0;
  static constexpr int kRegisters = 1;
};
template <>
struct PersistentCost<double> {
  static constexpr double kRow = 1.7;
  static constexpr int kRegisters = 2;
};

/// Nanoseconds of a step on an H100, as fitted to measurements: rows of the busiest schedulers, waiting for the other
/// warps, and a share of the exchange. A warp's outer rows take longer. A warp alone on its scheduler leaves it idle at
/// times, the more the fewer registers are left to hide latencies with.
template <class T>
double step_time(const PersistentLayout& layout, const TemporalTaps& taps) {
  using Cost = PersistentCost<T>;
  constexpr double kStep = 60.0, kExchange = 1250.0, kOuterRow = 1.3;
  const double exchange_row = layout.column_tiling.alignment == kLaneColumns ? 4.5 : 5.5;
  const double row = (taps.box ? 6.5 : taps.radius == 1 ? 4.4 : 6.9) * Cost::kRow;
  const int warps = plugin::round_up(layout.warps, 4);
  const bool full = layout.rows * Cost::kRegisters >= 16;
  const double idle = full ? 1.0 + 16.0 / (warps * warps) : warps == 4 ? 1.25 : 1.0;
  return kStep + idle * row * warps * (layout.rows + kOuterRow * taps.radius) +
         (kExchange + exchange_row * warps * layout.rows) / layout.depth;
}

double step_time(tessera_dtype dtype, const PersistentLayout& layout, const TemporalTaps& taps) {
  return with_types(dtype, [&]<class T>(std::type_identity<T>) { return step_time<T>(layout, taps); });
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

}  // namespace

std::optional<PersistentLayout> choose_persistent(const StencilProblem& p, const TemporalTaps& taps,
                                                  int multiprocessors, const PersistentRequest& request) {
  const auto all_rows = persistent_rows(p.dtype, taps);
  const std::int64_t most_points =
      std::int64_t(multiprocessors) * kWarpColumns * kPersistentMostWarps * all_rows[all_rows.size() - 1];
  std::optional<PersistentLayout> best;
  if (p.points() > most_points) return best;
  const auto wanted = [](int asked, int value) { return asked == 0 || asked == value; };
  const int deepest = request.depth != 0 ? request.depth : int(std::min<std::int64_t>(kPersistentMostDepth, p.steps));
  for (int depth = request.depth != 0 ? request.depth : std::min(kLeastDepth, deepest); depth <= deepest; ++depth)
    for (const int alignment : {kLaneColumns, kLaneColumns / 2}) {
      const int reach = depth * taps.radius, halo = plugin::round_up(reach, alignment);
      const auto columns = cover(p, 2, kWarpColumns, halo, alignment, multiprocessors);
      if (!columns) continue;
      for (const int rows : all_rows)
        for (int warps = 1; warps <= kPersistentMostWarps; ++warps) {
          if (!wanted(request.rows, rows) || !wanted(request.warps, warps)) continue;
          const auto tiles = cover(p, 1, rows * warps, reach, 1, multiprocessors / columns->count);
          if (!tiles) continue;
          const PersistentLayout layout{rows, warps, depth, *tiles, *columns};
          if (!best || step_time(p.dtype, layout, taps) < step_time(p.dtype, *best, taps)) best = layout;
        }
    }
  return best;
}

std::string why_not_persistent(const StencilProblem& p, int multiprocessors) {
  if (p.rank != 2) return "the domain has rank " + std::to_string(p.rank) + "; there are kernels for rank 2";
  if (p.steps < 1 || p.steps > kMostSteps)
    return "steps = " + std::to_string(p.steps) + "; it must lie in [1, " + std::to_string(kMostSteps) + "]";
  if (const std::string why = why_not_fused(p); !why.empty()) return why;
  const std::optional<TemporalTaps> taps = temporal_taps(p);
  if (!taps || (taps->box && taps->radius > 1))
    return "these taps have no kernel: there are some for the star of radius 1 and 2 and the box of radius 1, each tap "
           "once";
  if (const std::string why = why_too_short(p, *taps); !why.empty()) return why;
  if (choose_persistent(p, *taps, multiprocessors)) return {};
  const auto rows = persistent_rows(p.dtype, *taps);
  return "no more than " + std::to_string(multiprocessors) + " tiles of " + std::to_string(kWarpColumns) +
         " columns and " + std::to_string(rows[0]) + " to " +
         std::to_string(kPersistentMostWarps * rows[rows.size() - 1]) + " rows, which overlap, must cover the " +
         std::to_string(p.domain.extents[1]) + " x " + std::to_string(p.domain.extents[2]) + " points";
}

bool persistent_pays(const StencilProblem& p) { return p.steps >= 4 + p.points() / (std::int64_t(1) << 19); }

}  // namespace tessera::cuda
