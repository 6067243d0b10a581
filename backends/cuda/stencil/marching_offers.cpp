// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "marching.hpp"

#include "../system/model.hpp"
#include "../system/temporal_layout.hpp"
#include "temporal/temporal.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace tessera::cuda {
namespace {

using plugin::Index3;
using plugin::StarSystem;
using plugin::StencilProblem;

constexpr std::int64_t kVectorBytes = 16;

/// "" where the taps are a full star, which is then in `star`.
std::string find_star(const StencilProblem& p, StarSystem& star) {
  int radius = 0;
  for (const plugin::Tap& tap : p.taps)
    for (const std::int64_t x : tap.offset) radius = std::max(radius, int(std::min<std::int64_t>(std::llabs(x), 99)));
  if (radius < 1 || radius > plugin::kMostStarRadius) return "takes stars of radius 1 to 4";
  if (p.taps.size() != std::size_t(6 * radius + 1)) return "takes full stars";
  star.form = plugin::StarForm::heat;
  star.radius = radius;
  bool centre = false;
  for (const plugin::Tap& tap : p.taps) {
    const auto along = std::count_if(tap.offset.begin(), tap.offset.end(), [](std::int64_t x) { return x != 0; });
    if (along > 1) return "takes stars";
    if (along == 0) star.centre[1] = tap.coefficient, centre = true;
    for (std::size_t axis = 0; axis < tap.offset.size(); ++axis) {
      const std::int64_t x = tap.offset[axis];
      if (x != 0) star.taps[axis][x < 0 ? x + radius : x + radius - 1] = tap.coefficient;
    }
  }
  return centre ? "" : "takes full stars";
}

double sweep_seconds(const StencilProblem& p, const Machine& machine, int radius) {
  constexpr double kUnaligned = 0.97;
  const MarchingCosts& costs = machine.stencil.marching;
  const auto size = std::int64_t(plugin::size_of(p.dtype));
  const bool aligned = p.domain.extents[2] * size % kVectorBytes == 0;
  const double rate = (costs.rate - costs.rate_of_radius * radius) * (aligned ? 1.0 : kUnaligned) * machine.memory_rate;
  return seconds_of({.memory = 2.0 * double(p.points()) * double(size) / rate,
                     .computing = 0.0,
                     .overlap = 0.0,
                     .wait = costs.begin + costs.begin_of_radius * radius},
                    machine);
}

/// Of several steps.
double pass_seconds(const StencilProblem& p, const Machine& machine, const StarSystem& star, int depth) {
  return launches_seconds(machine, 1.0) +
         plugin::with_types<plugin::WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) {
           const double bytes = 2.0 * double(p.points()) * double(sizeof(T));
           return wave_pass_seconds<T>(star, p.domain.extents, depth, bytes, machine);
         });
}

std::uint64_t sweep_workspace(const StencilProblem& p, std::int64_t sweeps) {
  StencilProblem problem = p;
  problem.steps = sweeps;
  return problem.sweep_workspace();
}

}  // namespace

StarSystem marching_star(const StencilProblem& problem) {
  StarSystem star{};
  find_star(problem, star);
  return star;
}

std::string why_not_marching(const StencilProblem& p, const Machine& machine) {
  if (p.rank != 3) return "takes three axes";
  StarSystem star{};
  if (std::string why = find_star(p, star); !why.empty()) return why;
  if (!has_fixed_sides(p)) return "takes fixed sides";
  if (p.in_strides != p.packed_strides() || p.out_strides != p.packed_strides()) return "takes packed arrays";
  return why_not_streaming(machine, p.domain.extents);
}

void offer_marching(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                    std::uint64_t, plugin::OfferList& offers) {
  const StarSystem star = marching_star(p);
  const std::int64_t deepest =
      std::max(1, plugin::with_types<plugin::WideTypes>(
                      p.dtype, [&]<class T>(std::type_identity<T>) { return wave_depth<T>(star.radius); }));
  for (const std::int64_t depth : given.in_range("depth", useful_depths(p.steps, deepest), 1, deepest)) {
    const TemporalPasses passes(p.steps, depth);
    const double sweep =
        depth == 1 ? sweep_seconds(p, machine, star.radius) : pass_seconds(p, machine, star, int(depth));
    offers.add({{{"depth", depth}}, double(passes.count()) * sweep, sweep_workspace(p, passes.count())});
  }
}

}  // namespace tessera::cuda
