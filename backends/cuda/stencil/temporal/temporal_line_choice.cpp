// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_line.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// Microseconds of a pass on an H100, within a tenth of what was measured for 2^12 to 2^28 points and depths of 1 to
/// 256. A tile's step issues its multiply-adds (in f64 every other cycle) and a few instructions more; the busiest
/// scheduler has its tiles' steps one after another, and waits a while for neighbours' points. Reading and writing go
/// on beside that but for a fifth of the shorter of the two.
double pass_time(const StencilProblem& p, int radius, int depth, int multiprocessors) {
  constexpr double kLaunch = 4.5, kCycles = 1980.0, kBytes = 3e6, kApart = 0.22;  // the rates a microsecond
  constexpr double kRest = 12.0, kWait = 50.0;                                    // cycles
  const bool f64 = p.dtype == TESSERA_F64;
  const double step = line_points(f64) * (2.0 * radius + 1.0) * (f64 ? 2.0 : 1.0) + kRest;
  const double tiles = std::ceil(cut_line(p, radius, depth).count() / (4.0 * multiprocessors));
  const double sums = depth * (tiles * step + kWait * radius) / kCycles;
  const double memory = 2.0 * double(p.points()) * double(plugin::size_of(p.dtype)) / kBytes;
  return kLaunch + std::max(sums, memory) + kApart * std::min(sums, memory);
}

}  // namespace

StripCut cut_line(const StencilProblem& p, int radius, int depth) {
  const int margin = (radius * depth + kLineUnit - 1) / kLineUnit * kLineUnit;
  const bool closed = p.domain.mode[2][0] != TESSERA_BOUNDARY_PERIODIC;
  return {int(p.domain.extents[2]), line_width(p.dtype == TESSERA_F64), margin, kLineUnit, closed};
}

int choose_line_depth(const StencilProblem& p, int radius, int multiprocessors) {
  const std::int64_t deepest = std::min<std::int64_t>(most_line_depth(radius, p.dtype == TESSERA_F64), p.steps);
  int best = 1;
  double least = 0.0;
  for (int depth = 1; depth <= deepest; ++depth) {
    const double passes = std::ceil(double(p.steps) / depth);
    const double time = passes * pass_time(p, radius, depth, multiprocessors);
    if (depth > 1 && time >= least) continue;
    least = time;
    best = depth;
  }
  return best;
}

}  // namespace tessera::cuda
