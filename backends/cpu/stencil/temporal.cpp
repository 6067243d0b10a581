// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over memory. A tile streams along axis 0: each group of planes that it loads lets every
/// step of the pass advance by as many, and a step keeps only the planes that the next one reads, so all of them stay
/// in a core's cache. On axes 1 and 2, and where threads share axis 0, tiles overlap by what the remaining steps reach,
/// so no thread waits for another. (A. Nguyen et al., "3.5-D blocking optimization for stencil computations on modern
/// CPUs and GPUs", SC10.) Boundaries are those of a single sweep at every step.

#include "../cost.hpp"
#include "../parallel.hpp"
#include "algorithms.hpp"
#include "temporal_tile.hpp"

namespace tessera::cpu {
namespace {

using plugin::Index3;
using plugin::StencilProblem;

template <class T>
class TemporalPlan final : public plugin::Plan {
 public:
  TemporalPlan(const StencilProblem& problem, const TemporalShape& shape, int threads)
      : passes_(problem), rules_(problem, shape), steps_(problem.steps), threads_(threads) {
    passes_.steps = steps_ / shape.depth + (steps_ % shape.depth != 0);  // any number of steps, without overflow
    if (problem.points() == 0) return;
    cut(shape);
    for (int t = 0; t < threads; ++t) workshops_.emplace_back(rules_, shape.depth);
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
                               const std::int64_t depth = dealt(++pass) - done;
                               done += depth;
                               sweep(team, {source, source_strides, target, strides, depth, {}});
                               stream_fence();
                               team.barrier();
                             });
    });
  }

 private:
  /// Steps of the first `pass` passes, which all have about as many.
  std::int64_t dealt(std::int64_t pass) const {
    return steps_ / passes_.steps * pass + steps_ % passes_.steps * pass / passes_.steps;
  }

  /// Tiles of axes 1 and 2, and pieces of axis 0 until threads have equal shares: a piece repeats some planes.
  void cut(const TemporalShape& shape) {
    const auto& extents = passes_.domain.extents;
    const std::int64_t radius = rules_.axes[0].radius();
    const auto pieces = [](std::int64_t n, std::int64_t piece) { return (n + piece - 1) / piece; };
    size_ = {extents[0], shape.tile, shape.width};
    tiles_ = {1, pieces(extents[1], shape.tile), pieces(extents[2], shape.width)};
    const std::int64_t columns = tiles_[1] * tiles_[2], most = extents[0] / (8 * shape.depth * radius + 1);
    const auto idle = [this](std::int64_t units) { return (threads_ - units % threads_) % threads_; };
    while (tiles_[0] < most && idle(columns * tiles_[0]) * 20 > columns * tiles_[0]) ++tiles_[0];
    size_[0] = pieces(extents[0], tiles_[0]);
    tiles_[0] = pieces(extents[0], size_[0]);
  }

  void sweep(Team team, Tile<T> tile) {
    const std::int64_t units = tiles_[0] * tiles_[1] * tiles_[2], last = team.end(units);
    for (std::int64_t unit = team.begin(units); unit < last; ++unit) {
      const Index3 place{unit / (tiles_[1] * tiles_[2]), unit / tiles_[2] % tiles_[1], unit % tiles_[2]};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t begin = place[axis] * size_[axis];
        tile.core[axis] = {begin, std::min(begin + size_[axis], passes_.domain.extents[axis])};
      }
      TileRun<T>(rules_, tile, workshops_[std::size_t(team.rank)]).run();
    }
  }

  StencilProblem passes_;  ///< a step for each pass
  TileRules<T> rules_;
  std::int64_t steps_;
  int threads_;
  Index3 size_{}, tiles_{};             ///< of a tile in points, and how many on each axis
  std::vector<Workshop<T>> workshops_;  ///< one a thread
};

}  // namespace

StencilPlanPointer make_stencil_temporal(Context& context, const StencilProblem& problem, plugin::PlanOptions options) {
  const StencilProblem turned = streamed(problem);
  const int automatic = work_of_sweep(problem).useful_threads(context.threads());
  const int threads = take_threads(options, automatic);
  const TemporalShape best = choose_shape(turned, tile_cache_bytes());
  constexpr std::int64_t kMost = std::int64_t(1) << 40;
  TemporalShape shape{options.parameters.take("depth", best.depth, 1, 64),
                      options.parameters.take("tile", best.tile, 1, kMost),
                      options.parameters.take("width", best.width, 1, kMost)};
  shape.depth = std::min(shape.depth, std::max<std::int64_t>(problem.steps, 1));
  if (problem.dtype == TESSERA_F32) return std::make_unique<TemporalPlan<float>>(turned, shape, threads);
  return std::make_unique<TemporalPlan<double>>(turned, shape, threads);
}

std::string why_not_temporal(const StencilProblem& problem, int) {
  for (const auto& sides : problem.domain.mode)
    for (const auto mode : sides)
      if (mode == TESSERA_BOUNDARY_HALO) return "a halo holds the ghost points of a single step";
  return {};
}

}  // namespace tessera::cpu
