// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_line.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// Microseconds of a pass on an H100 (preliminary).
double pass_time(const StencilProblem& p, int radius, int depth, int multiprocessors) {
  const bool f64 = p.dtype == TESSERA_F64;
  const double cycles = line_points(f64) * (2.0 * radius + 1.0) * (f64 ? 2.0 : 1.0) + 12.0;
  const double schedulers = 4.0 * multiprocessors, tiles = cut_line(p, radius, depth).count();
  const double sums = depth * std::max(tiles / schedulers * cycles, cycles + 40.0) / 1.7e3;
  const double memory = 2.0 * double(p.points()) * double(plugin::size_of(p.dtype)) / 2.9e6;
  return 4.0 + std::max(sums, memory) + 0.2 * std::min(sums, memory);
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
