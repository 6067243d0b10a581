// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over memory. A tile advances along axis 0: each group of planes that it loads lets every
/// step of the pass advance by as many. A step keeps only the planes that the next one reads, so all of them stay in a
/// core's cache. On axes 1 and 2, and where threads share axis 0, tiles overlap by what the remaining steps reach, so
/// no thread waits for another. (A. Nguyen et al., "3.5-D blocking optimization for stencil computations on modern CPUs
/// and GPUs", SC10.) Boundaries are those of a single sweep at every step.

#include "../cost.hpp"
#include "../parallel.hpp"
#include "algorithms.hpp"
#include "sweep_axis.hpp"
#include "temporal_tile.hpp"

#include <tessera/plugin/math.hpp>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::Index3;
using plugin::StencilProblem;

template <class T>
class TemporalPlan final : public plugin::Plan {
 public:
  TemporalPlan(const StencilProblem& problem, const TemporalShape& shape, int threads)
      : passes_(problem), rules_(problem, shape), steps_(problem.steps), threads_(threads) {
    passes_.steps = ceil_div(steps_, shape.fused_steps);
    if (problem.points() == 0) return;
    cut(shape);
    for (int t = 0; t < threads; ++t) scratch_.emplace_back(rules_, shape.fused_steps);
  }

  std::uint64_t workspace_bytes() const override { return passes_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    const T* in = execution.operand<const T>(0);
    T* out = execution.operand<T>(1);
    T* workspace = execution.workspace<T>();
    run_team(threads_, [&](Team team) {
      std::int64_t done = 0, pass = 0;
      plugin::for_each_sweep(passes_, in, out, workspace,
                             [&](const T* source, const Index3& source_strides, T* target, const Index3& strides) {
                               const std::int64_t fused_steps = steps_until(++pass) - done;
                               done += fused_steps;
                               sweep(team, {source, source_strides, target, strides, fused_steps, {}});
                               nontemporal_fence();
                               team.barrier();
                             });
    });
  }

 private:
  /// Steps of the first `pass` passes, which all have about as many.
  std::int64_t steps_until(std::int64_t pass) const {
    return steps_ / passes_.steps * pass + steps_ % passes_.steps * pass / passes_.steps;
  }

  /// Tiles of axes 1 and 2, and as few chunks of axis 0 as give threads equal shares: each chunk repeats some planes.
  void cut(const TemporalShape& shape) {
    const auto& extents = passes_.domain.extents;
    const std::int64_t radius = rules_.axes[0].radius();
    size_ = {extents[0], shape.tile, shape.width};
    tiles_ = {1, ceil_div(extents[1], shape.tile), ceil_div(extents[2], shape.width)};
    const std::int64_t columns = tiles_[1] * tiles_[2], most = extents[0] / (8 * shape.fused_steps * radius + 1);
    const auto idle = [this](std::int64_t units) { return (threads_ - units % threads_) % threads_; };
    while (tiles_[0] < most && idle(columns * tiles_[0]) * 20 > columns * tiles_[0]) ++tiles_[0];
    size_[0] = ceil_div(extents[0], tiles_[0]);
    tiles_[0] = ceil_div(extents[0], size_[0]);
  }

  void sweep(Team team, Tile<T> tile) {
    const std::int64_t units = tiles_[0] * tiles_[1] * tiles_[2], last = team.end(units);
    for (std::int64_t unit = team.begin(units); unit < last; ++unit) {
      const Index3 place{unit / (tiles_[1] * tiles_[2]), unit / tiles_[2] % tiles_[1], unit % tiles_[2]};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t begin = place[axis] * size_[axis];
        tile.core[axis] = {begin, std::min(begin + size_[axis], passes_.domain.extents[axis])};
      }
      TileRun<T>(rules_, tile, scratch_[std::size_t(team.rank)]).run();
    }
  }

  StencilProblem passes_;  ///< a step for each pass
  TileRules<T> rules_;
  std::int64_t steps_;
  int threads_;
  Index3 size_{}, tiles_{};                ///< of a tile in points, and how many on each axis
  std::vector<ThreadScratch<T>> scratch_;  ///< one a thread
};

}  // namespace

StencilPlanPointer make_stencil_temporal(Context& context, const StencilProblem& problem, plugin::PlanOptions options) {
  const StencilProblem p = sweep_axis_first(problem);
  const int threads = take_threads(options, work_of_sweep(problem).useful_threads(context.threads()));
  const TemporalShape best = choose_shape(p, tile_cache_bytes());
  constexpr std::int64_t kMost = std::int64_t(1) << 40;
  TemporalShape shape{options.parameters.take("depth", best.fused_steps, 1, 64),
                      options.parameters.take("tile", best.tile, 1, kMost),
                      options.parameters.take("width", best.width, 1, kMost)};
  shape.fused_steps = std::min(shape.fused_steps, std::max<std::int64_t>(problem.steps, 1));
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> StencilPlanPointer {
    return std::make_unique<TemporalPlan<T>>(p, shape, threads);
  });
}

std::string why_not_temporal(const StencilProblem& problem, int) {
  for (const auto& sides : problem.domain.mode)
    for (const auto mode : sides)
      if (mode == TESSERA_BOUNDARY_HALO) return "a halo holds the ghost points of a single step";
  return {};
}

}  // namespace tessera::cpu
