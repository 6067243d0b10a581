// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "direct.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// A sweep waits for memory and then for its taps. A loop over the taps evicts rows from the first-level cache, and the
/// more of them it has the more it reads again: so its time grows with their square.
double sweep_seconds(const StencilProblem& p, const Machine& machine) {
  const DirectCosts& costs = machine.stencil.direct;
  const double taps = double(p.taps.size());
  const bool unrolled = std::ranges::find(kUnrolledTapCounts, p.taps.size()) != std::end(kUnrolledTapCounts);
  const auto block = direct_block(p);
  double points = 1.0;  // with the idle threads
  for (std::size_t axis = 0; axis < plugin::kAxes; ++axis)
    points *= double(plugin::round_up(p.domain.extents[axis], std::int64_t(block[axis])));
  const double tap = p.rank == 1 ? costs.line_tap : costs.unrolled_tap;
  const double point = costs.point + (unrolled ? tap * taps : costs.loop_taps * taps * taps);
  const BoundaryWarps boundary = boundary_warps(p);
  const double warp = boundary.computed ? costs.boundary_tap * taps : costs.frozen_warp;
  const double latency = boundary.computed && boundary.count > 0.0 ? costs.boundary_latency * taps : 0.0;
  return seconds_of({.memory = costs.memory * copy_seconds(p, machine),
                     .computing = all_cycles(machine, arithmetic(p, machine) * points * point + boundary.count * warp),
                     .overlap = 1.0,
                     .wait = latency},
                    machine);
}

}  // namespace

std::array<unsigned, plugin::kAxes> direct_block(const StencilProblem& problem) {
  if (problem.rank == 1) return {1, 1, kDirectThreads};
  const auto fit = [&](int axis, unsigned most) {
    return unsigned(std::min<std::uint64_t>(std::bit_ceil(std::uint64_t(problem.domain.extents[axis])), most));
  };
  const unsigned x = fit(2, 64), y = fit(1, kDirectThreads / x);
  return {fit(0, std::min(kDirectThreads / (x * y), 64u)), y, x};
}

void offer_direct(const StencilProblem& problem, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
                  plugin::OfferList& offers) {
  offer_sweeps(problem, {}, sweep_seconds(problem, machine), offers);
}

}  // namespace tessera::cuda
