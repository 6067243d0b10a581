// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_line.hpp"

#include <tessera/plugin/math.hpp>

#include <cmath>

namespace tessera::cuda {

using plugin::StencilProblem;

AxisTiling line_tiling(const StencilProblem& p, int radius, int depth) {
  const bool closed = p.domain.mode[2][0] != TESSERA_BOUNDARY_PERIODIC;
  return {int(p.domain.extents[2]), line_width(p.dtype), plugin::round_up(radius * depth, kLineAlignment),
          kLineAlignment, closed};
}

/// A tile's step issues its multiply-adds and a few instructions more. The busiest scheduler has its tiles' steps one
/// after another, and waits a while for neighbours' points. A tile waits for its points once a pass, so that the
/// second-level cache brings little. Where the line is not one of whole vectors, the pass waits for the tiles at its
/// ends, which read and write point by point, and longer where each point's place has to be wrapped.
double line_pass_seconds(const StencilProblem& p, int radius, int depth, const Machine& machine) {
  const TemporalLineCosts& costs = machine.stencil.temporal_line;
  const int bytes = int(plugin::size_of(p.dtype)), value = value_bytes(p.dtype);
  const double multiply_adds = line_width(p.dtype) / 32 * (2.0 * radius + 1.0) * (value / 4.0);
  const double other = bytes == 2 ? costs.narrow : value == 8 ? costs.f64 : costs.step;
  const double tiles = std::ceil(line_tiling(p, radius, depth).count() / (4.0 * machine.multiprocessors));
  const double step = tiles * (costs.multiply_add * multiply_adds + other) + costs.neighbour * radius;
  const double memory = costs.memory * 2.0 * array_bytes(p) / machine.memory_rate;
  const bool vectors = p.domain.extents[2] % (16 / std::int64_t(plugin::size_of(p.dtype))) == 0;
  const double ends = vectors ? 0.0 : costs.unaligned + (line_tiling(p, radius, depth).closed ? 0.0 : costs.wrapped);
  return seconds_of(
      {.memory = memory, .computing = depth * step / machine.clock_hz, .overlap = costs.overlap, .wait = ends},
      machine);
}

}  // namespace tessera::cuda
