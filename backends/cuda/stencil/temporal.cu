// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over memory, all of them in registers: see temporal_strip.cuh for domains of two axes.
/// Every boundary mode is exact at every step.
#include "algorithms.hpp"
#include "temporal.hpp"
#include "temporal_kernels.hpp"

#include "../launch.cuh"

#include <cstdint>
#include <memory>

namespace tessera::cuda {
namespace {

/// Blocks of one warp that a multiprocessor holds at once.
int resident_warps(const void* kernel) {
  int blocks = 0;
  TESSERA_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0));
  return blocks;
}

template <class T>
class StripPasses final : public plugin::Plan {
 public:
  StripPasses(Context& context, const plugin::StencilProblem& problem, const TemporalTaps& taps, int depth, int rows)
      : context_(context),
        problem_(problem),
        passes_(problem.steps, depth),
        deepest_(temporal_tuning(taps, sizeof(T) == 8).depth),
        kernels_(strip_kernels(std::type_identity<T>{}, taps)) {
    problem_.steps = passes_.count();
    const DeviceGuard guard(context.device());
    prepare(kernels_.deepest);
    prepare(kernels_.any);
    // Passes have one depth or two that differ by 1.
    for (int less = 0; less < 2; ++less) {
      const int steps = int(passes_.depth(passes_.count() - 1)) - less;
      if (steps < 1) break;
      const int resident = resident_warps(reinterpret_cast<const void*>(kernel_for(steps)));
      const StripPlan plan = plan_strips(problem, taps, steps, context.limits().multiprocessors, resident, rows);
      StripArguments<T>& g = arguments_[less];
      g.rows = TemporalAxis<T>(problem.domain, 1);
      g.columns = TemporalAxis<T>(problem.domain, 2);
      g.row_ends = RowEnds(g.rows);
      g.cut = plan.cut;
      g.strips = plan.strips, g.pieces = plan.pieces, g.piece_rows = plan.piece_rows;
      g.depth = steps;
      for (const auto& tap : problem.taps)
        g.coefficients[tap.offset[1] + taps.radius][tap.offset[2] + taps.radius] = T(tap.coefficient);
    }
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    std::int64_t pass = 0;
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          StripArguments<T> g = arguments_[passes_.depth(pass++) == arguments_[0].depth ? 0 : 1];
          for (int axis = 0; axis < 2; ++axis) {
            g.source_strides[axis] = source_strides[std::size_t(axis + 1)];
            g.target_strides[axis] = target_strides[std::size_t(axis + 1)];
          }
          g.source_vectors = takes_vectors(source, g.source_strides);
          g.target_vectors = takes_vectors(target, g.target_strides);
          launch(kernel_for(g.depth), dim3(unsigned(g.strips) * unsigned(g.pieces)), dim3(32), 0, context_.stream(), g,
                 source, target);
        });
  }

 private:
  typename StripKernels<T>::Kernel kernel_for(int depth) const {
    return depth == deepest_ ? kernels_.deepest : kernels_.any;
  }

  static bool takes_vectors(const T* data, const std::int64_t (&strides)[2]) {
    return strides[1] == 1 && strides[0] % std::int64_t(16 / sizeof(T)) == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  }

  Context& context_;
  plugin::StencilProblem problem_;  ///< a step for each pass
  TemporalPasses passes_;
  int deepest_;
  StripKernels<T> kernels_;
  StripArguments<T> arguments_[2] = {};  ///< of the deeper passes, of the others
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   plugin::PlanOptions options) {
  const TemporalTaps taps = *temporal_taps(problem);
  const int deepest = temporal_tuning(taps, problem.dtype == TESSERA_F64).depth;
  const int depth = int(options.parameters.take("depth", deepest, 1, deepest));
  const int rows = int(options.parameters.take("rows", 0, 0, problem.domain.extents[1]));
  if (problem.dtype == TESSERA_F64) return std::make_unique<StripPasses<double>>(context, problem, taps, depth, rows);
  return std::make_unique<StripPasses<float>>(context, problem, taps, depth, rows);
}

}  // namespace

const StencilAlgorithm kStencilTemporal{"temporal", why_not_temporal, make};

}  // namespace tessera::cuda
