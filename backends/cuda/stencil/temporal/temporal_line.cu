// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_line.cuh"

#include "../../launch.cuh"
#include "temporal_kernels.hpp"

#include <memory>

namespace tessera::cuda {
namespace {

template <class T, int kRadius>
inline constexpr TemporalTuning kLineTuning = temporal_tuning<T>({1, false, kRadius});

template <class T, int kRadius>
__global__ void __launch_bounds__(32 * kLineTuning<T, kRadius>.warps, (kLineTuning<T, kRadius>.blocks_per_sm))
    stencil_temporal_line_kernel(const __grid_constant__ LineArguments<Scalar<T>, kRadius> g,
                                 const T* __restrict__ source, T* __restrict__ target) {
  constexpr int kPoints = kLinePoints<T>, kWarps = kLineTuning<T, kRadius>.warps;
  __shared__ __align__(16) T shared[kWarps][LineTile<T, kPoints>::kElements];
  temporal_line<T, kRadius, kPoints, kWarps>(g, source, target, shared[threadIdx.y]);
}

template <class T, int kRadius>
class TemporalLinePlan final : public plugin::Plan {
 public:
  TemporalLinePlan(Context& context, const plugin::StencilProblem& problem, int depth)
      : context_(context), problem_(problem), passes_(problem.steps, depth) {
    problem_.steps = passes_.count();
    arguments_.axis = TemporalAxis<Scalar<T>>(problem.domain, 2);
    for (const plugin::Tap& tap : problem.taps)
      arguments_.coefficients[tap.offset[2] + kRadius] = Scalar<T>(tap.coefficient);
    const DeviceGuard guard(context.device());
    prepare(stencil_temporal_line_kernel<T, kRadius>);
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    LineArguments<Scalar<T>, kRadius> g = arguments_;
    std::int64_t pass = 0;
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          g.depth = int(passes_.depth(pass++));
          g.tiling = line_tiling(problem_, kRadius, g.depth);
          g.tiles = g.tiling.count();
          g.source_stride = source_strides[2], g.target_stride = target_strides[2];
          g.source_vectors = g.source_stride == 1 && at_vector(source);
          g.target_vectors = g.target_stride == 1 && at_vector(target);
          constexpr int kWarps = kLineTuning<T, kRadius>.warps;
          launch(stencil_temporal_line_kernel<T, kRadius>, dim3(unsigned(plugin::ceil_div(g.tiles, kWarps))),
                 dim3(32, kWarps), 0, context_.stream(), g, source, target);
        });
  }

 private:
  Context& context_;
  plugin::StencilProblem problem_;  ///< a step for each pass
  TemporalPasses passes_;
  LineArguments<Scalar<T>, kRadius> arguments_{};  ///< what all passes share
};

}  // namespace

std::unique_ptr<plugin::Plan> make_temporal_line(Context& context, const plugin::StencilProblem& problem, int depth) {
  std::unique_ptr<plugin::Plan> plan;
  with_types(problem.dtype, [&]<class T>(std::type_identity<T>) {
    with_shape<Scalar<T>>(LineShapes{}, problem, [&]<class Shape>(Shape, const auto&) {
      plan = std::make_unique<TemporalLinePlan<T, Shape::kRadius>>(context, problem, depth);
    });
  });
  return plan;
}

}  // namespace tessera::cuda
