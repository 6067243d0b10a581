// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over memory. A tile advances along axis 0: each group of planes that it loads lets every
/// step of the pass advance by as many. A step keeps only the planes that the next one reads, so all of them stay in a
/// core's cache. On axes 1 and 2, and where threads share axis 0, tiles overlap by what the remaining steps reach, so
/// no thread waits for another. (A. Nguyen et al., "3.5-D blocking optimization for stencil computations on modern CPUs
/// and GPUs", SC10.) Boundaries are those of a single sweep at every step.

#include "../context.hpp"
#include "../thread_pool.hpp"
#include "model.hpp"
#include "sweep_source.hpp"
#include "temporal_tile.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::Index3;
using plugin::StencilProblem;

/// The problem with a step for each pass.
StencilProblem passes_of(StencilProblem p, std::int64_t fused_steps) {
  p.steps = ceil_div(p.steps, fused_steps);
  return p;
}

template <class T>
class TemporalPlan final : public plugin::Plan {
 public:
  TemporalPlan(const StencilWork& work, const TemporalShape& shape, int threads)
      : passes_(passes_of(work.problem, shape.fused_steps)),
        rules_(work, shape),
        steps_(work.problem.steps),
        threads_(threads) {
    if (work.problem.points() == 0) return;
    grid_ = tile_grid(work.problem, shape, threads);
    for (int t = 0; t < threads; ++t) scratch_.emplace_back(rules_, shape.fused_steps);
  }

  std::uint64_t workspace_bytes() const override { return passes_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    run_sweeps<T>(threads_, passes_, execution, [&](Team team, std::int64_t pass, const auto& arrays) {
      const auto& [source, source_strides, target, strides] = arrays;
      const std::int64_t fused_steps = steps_until(pass + 1) - steps_until(pass);
      sweep(team, {source, source_strides, target, strides, fused_steps, {}});
      nontemporal_fence();
    });
  }

 private:
  /// Steps of the first `pass` passes, which all have about as many.
  std::int64_t steps_until(std::int64_t pass) const {
    return steps_ / passes_.steps * pass + steps_ % passes_.steps * pass / passes_.steps;
  }

  void sweep(Team team, Tile<T> tile) {
    const auto& [tiles, size] = grid_;
    const std::int64_t units = grid_.count(), last = team.end(units);
    for (std::int64_t unit = team.begin(units); unit < last; ++unit) {
      const Index3 place{unit / (tiles[1] * tiles[2]), unit / tiles[2] % tiles[1], unit % tiles[2]};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t begin = place[axis] * size[axis];
        tile.core[axis] = {begin, std::min(begin + size[axis], passes_.domain.extents[axis])};
      }
      TileRun<T>(rules_, tile, scratch_[std::size_t(team.rank)]).run();
    }
  }

  StencilProblem passes_;  ///< a step for each pass
  TileRules<T> rules_;
  std::int64_t steps_;
  int threads_;
  TileGrid grid_{};
  std::vector<ThreadScratch<T>> scratch_;  ///< one a task
};

/// Most steps of a pass that are worth a try, and how far a caller may go.
constexpr std::int64_t kMostFusedSteps = 32, kMostGivenSteps = 64;
constexpr std::int64_t kMostPoints = std::int64_t(1) << 40;
/// Bytes. Longer rows of a group do not fit in a first-level cache together.
constexpr std::int64_t kLongestRow = 8192;
constexpr std::int64_t kShortestRow = 128;  ///< points

/// A tile should leave some of a core's own cache.
std::int64_t tile_cache_bytes(const Machine& machine) { return machine.caches.level2 / 8 * 5; }

/// The shape of a pass of one step, which needs no tile.
TemporalShape single_step(const StencilWork& work) {
  const auto& extents = work.problem.domain.extents;
  return {1, std::max<std::int64_t>(extents[1], 1),
          std::clamp<std::int64_t>(extents[2], 1, kLongestRow / work.element())};
}

/// The shape of the least time for that many steps; one of no rows where no tile fits.
TemporalShape best_shape(const Machine& machine, const StencilWork& work, std::int64_t fused_steps, int threads) {
  TemporalShape best{fused_steps, 0, 1};
  double least = 0.0;
  for (std::int64_t width = kLongestRow / work.element(); width >= kShortestRow; width /= 2) {
    const TemporalShape shape =
        fitting_shape(work.problem, fused_steps, width, work.block_rows, tile_cache_bytes(machine));
    if (shape.tile == 0) continue;
    const double seconds = passes_seconds(machine, work, shape, threads);
    if (best.tile == 0 || seconds < least) least = seconds, best = shape;
  }
  return best;
}

/// The best shape and those of half and of twice its steps, where tiles of them fit, after the one of a single step.
std::vector<TemporalShape> shapes_worth_a_try(const Machine& machine, const StencilWork& work, int threads) {
  std::vector<TemporalShape> shapes{single_step(work)};
  if (work.problem.points() == 0) return shapes;
  for (std::int64_t n = 2; n <= std::min(kMostFusedSteps, work.problem.steps); ++n)
    if (const TemporalShape shape = best_shape(machine, work, n, threads); shape.tile > 0) shapes.push_back(shape);
  if (shapes.size() == 1) return shapes;
  const auto seconds = [&](const TemporalShape& shape) { return passes_seconds(machine, work, shape, threads); };
  const std::int64_t best = std::min_element(shapes.begin() + 1, shapes.end(), [&](const auto& a, const auto& b) {
                              return seconds(a) < seconds(b);
                            })->fused_steps;
  std::erase_if(shapes, [best](const TemporalShape& shape) {
    const std::int64_t n = shape.fused_steps;
    return n > 1 && n != best / 2 && n != best && n != 2 * best;
  });
  return shapes;
}

/// The shape of so many steps that the caller fixed; where no tile of them fits in a cache, one that does not.
TemporalShape given_shape(const Machine& machine, const StencilWork& work, std::int64_t fused_steps, int threads) {
  TemporalShape shape = single_step(work);
  if (fused_steps > 1 && work.problem.points() > 0)
    if (const TemporalShape fitting = best_shape(machine, work, fused_steps, threads); fitting.tile > 0)
      shape = fitting;
  shape.fused_steps = fused_steps;
  return shape;
}

void offer(const StencilProblem& problem, const Machine& machine, const plugin::GivenParameters& given, std::uint64_t,
           plugin::OfferList& offers) {
  const StencilWork work(problem, machine.instructions);
  const std::int64_t steps = std::max<std::int64_t>(problem.steps, 1);
  const double sweep = passes_seconds(machine, work, single_step(work), 1) / double(steps);
  const int threads = int(given.in_range("threads", machine.useful_threads(sweep), 1, kMostThreads));
  std::vector<TemporalShape> shapes;
  if (const std::int64_t depth = given.in_range("depth", 0, 1, kMostGivenSteps); depth > 0)
    shapes = {given_shape(machine, work, depth, threads)};
  else
    shapes = shapes_worth_a_try(machine, work, threads);
  for (TemporalShape shape : shapes) {
    shape.tile = given.in_range("tile", shape.tile, 1, kMostPoints);
    shape.width = given.in_range("width", shape.width, 1, kMostPoints);
    offers.add({{{"threads", threads}, {"depth", shape.fused_steps}, {"tile", shape.tile}, {"width", shape.width}},
                passes_seconds(machine, work, shape, threads),
                passes_of(problem, shape.fused_steps).sweep_workspace()});
  }
}

std::unique_ptr<plugin::Plan> make(Context& context, const StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  const StencilWork work(problem, context.machine().instructions);
  TemporalShape shape{parameters.at("depth"), parameters.at("tile"), parameters.at("width")};
  shape.fused_steps = std::min(shape.fused_steps, std::max<std::int64_t>(problem.steps, 1));
  return plugin::with_types<WideTypes>(
      problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
        return std::make_unique<TemporalPlan<T>>(work, shape, int(parameters.at("threads")));
      });
}

std::string why_unsupported(const StencilProblem& problem, const Machine&) {
  for (const auto& sides : problem.domain.mode)
    for (const auto mode : sides)
      if (mode == TESSERA_BOUNDARY_HALO) return "a halo holds the ghost points of a single step";
  return {};
}

const plugin::Register<Context, StencilProblem> kRegistered{
    {"temporal", why_unsupported, offer, make, {.ordered = true}}, 3};

}  // namespace
}  // namespace tessera::cpu
