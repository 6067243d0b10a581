// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../caches.hpp"
#include "../cost.hpp"
#include "algorithms.hpp"
#include "row_blocks.hpp"
#include "sweep_axis.hpp"
#include "sweep_cut.hpp"
#include "temporal_shape.hpp"

#include <omp.h>

namespace tessera::cpu {
namespace {

/// Whether a sweep past the caches is faster than one through them once these do not hold in and out. Rows that have to
/// go one by one lose what blocks of rows save, and need some length for their ends, which are put together from
/// pieces.
bool streams_well(const plugin::StencilProblem& problem, int threads) {
  if (!why_not_streaming(problem, 0).empty()) return false;
  plugin::StencilProblem p = sweep_axis_first(problem);
  if (common_planes(p, true) > 1) {
    // Taps of three planes on either side wait for loads, and non-temporal stores take their buffers, unless many
    // threads share the memory: rows were 1.05 to 1.2 times as fast (radius 3 and 4 on 384^3, 1 and 2 threads, two
    // processors).
    constexpr std::int64_t kManyPlanes = 6;
    const bool loads_bind = p.domain.reach[0][0] + p.domain.reach[0][1] >= kManyPlanes;
    return !loads_bind || threads * kBytesPerThread > kBytesPerSocket;
  }
  // Measured on volumes of 101 to 301 points a side: with 7 lines 0.7 times as fast as rows, with 13 equal, with
  // 19 1.2.
  constexpr std::int64_t kShortestLines = 13;
  const std::int64_t bytes = p.domain.extents[2] * std::int64_t(plugin::size_of(p.dtype));
  return bytes >= kShortestLines * kLineBytes && !(common_planes(p, false) > 1 && block_rows(p) > 1);
}

}  // namespace

std::string_view preferred_stencil(const plugin::StencilProblem& problem) {
  const int threads = work_of_sweep(problem).useful_threads(omp_get_max_threads());
  if (why_not_temporal(problem, 0).empty() && temporal_pays(problem, threads)) return kStencilTemporal.name;
  const double bytes = 2.0 * double(problem.points()) * double(plugin::size_of(problem.dtype));
  // What a step leaves in the shared cache the next one reads there, but others use that cache, too: 24 steps of 7
  // points were 1.2 to 1.6 times as fast through it where in and out filled 5 to 15 %, 0.8 where they filled 30 % of
  // another.
  const bool stays = problem.steps > 1 && bytes <= double(caches().level3) / 4.0;
  const bool stream = bytes > double(threads) * double(caches().level2) && !stays && streams_well(problem, threads);
  return stream ? kStencilStreaming.name : kStencilRows.name;
}

}  // namespace tessera::cpu
