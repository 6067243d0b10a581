// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_line.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// What a step of a tile costs beside its loads, as fitted on an H100.
template <class T>
inline constexpr double kFmaCycles = 1.0;  ///< of a warp's scheduler, for a multiply-add of all lanes
template <>
inline constexpr double kFmaCycles<double> = 2.0;

/// Microseconds of a pass on an H100, within a tenth of what was measured for 2^12 to 2^28 points and depths of 1 to
/// 256. A tile's step issues its multiply-adds and a few instructions more. The busiest scheduler has its tiles' steps
/// one after another, and waits a while for neighbours' points. Reading and writing overlap with that but for a fifth
/// of the shorter of the two.
double pass_time(const StencilProblem& p, int radius, int depth, int multiprocessors) {
  constexpr double kLaunch = 4.5, kCycles = 1980.0, kBytes = 3e6, kApart = 0.22;  // the rates a microsecond
  constexpr double kRest = 12.0, kWait = 50.0;                                    // cycles
  const double step = with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    return kLinePoints<T> * (2.0 * radius + 1.0) * kFmaCycles<T> + kRest;
  });
  const double tiles = std::ceil(line_tiling(p, radius, depth).count() / (4.0 * multiprocessors));
  const double sums = depth * (tiles * step + kWait * radius) / kCycles;
  const double memory = 2.0 * double(p.points()) * double(plugin::size_of(p.dtype)) / kBytes;
  return kLaunch + std::max(sums, memory) + kApart * std::min(sums, memory);
}

}  // namespace

AxisTiling line_tiling(const StencilProblem& p, int radius, int depth) {
  const bool closed = p.domain.mode[2][0] != TESSERA_BOUNDARY_PERIODIC;
  return {int(p.domain.extents[2]), line_width(p.dtype), plugin::round_up(radius * depth, kLineAlignment),
          kLineAlignment, closed};
}

int choose_line_depth(const StencilProblem& p, int radius, int multiprocessors) {
  const std::int64_t deepest = std::min<std::int64_t>(most_line_depth(radius, p.dtype), p.steps);
  int best = 1;
  double least = 0.0;
  for (int depth = 1; depth <= deepest; ++depth) {
    const double passes = double(plugin::ceil_div(p.steps, depth));
    const double time = passes * pass_time(p, radius, depth, multiprocessors);
    if (depth > 1 && time >= least) continue;
    least = time;
    best = depth;
  }
  return best;
}

}  // namespace tessera::cuda
