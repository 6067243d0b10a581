// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over memory, all of them in registers: see temporal_line.cuh for 1D, temporal_tile15d.cuh
/// for 2D and temporal_tile25d.cuh for 3D. Every boundary mode is exact at every step.
#include "../../launch.cuh"
#include "../row_vector.cuh"
#include "temporal_kernels.hpp"

#include <cstdint>
#include <memory>

namespace tessera::cuda {
namespace {

template <class T>
TemporalKernels<T> kernels_of(const TemporalTaps& taps) {
  return taps.rank == 3 ? tile25d_kernels<T>(taps) : tile15d_kernels<T>(taps);
}

template <class T>
class TemporalPlan final : public plugin::Plan {
 public:
  TemporalPlan(Context& context, const plugin::StencilProblem& problem, const TemporalTaps& taps, int depth, int chunk)
      : context_(context),
        problem_(problem),
        passes_(problem.steps, depth),
        deepest_(temporal_tuning<T>(taps).depth),
        first_axis_(plugin::kAxes - taps.rank),
        kernels_(kernels_of<T>(taps)) {
    problem_.steps = passes_.count();
    const DeviceGuard guard(context.device());
    prepare(kernels_.deepest, context.machine().shared_per_block);
    prepare(kernels_.any, context.machine().shared_per_block);
    // Passes have one depth or two that differ by 1.
    for (int less = 0; less < 2; ++less) {
      const int steps = int(passes_.depth(passes_.count() - 1)) - less;
      if (steps < 1) break;
      arguments_[less] =
          arguments(taps, choose_layout(problem, taps, steps, context.machine().multiprocessors, chunk), steps);
    }
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    std::int64_t pass = 0;
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          TemporalArguments<S> g = arguments_[passes_.depth(pass++) == arguments_[0].depth ? 0 : 1];
          set_strides(g.source_strides, source_strides);
          set_strides(g.target_strides, target_strides);
          g.source_vectors = takes_vectors(source, g.source_strides);
          g.target_vectors = takes_vectors(target, g.target_strides);
          const unsigned blocks = unsigned(g.column_tiles) * unsigned(g.row_tiles) * unsigned(g.chunks);
          launch(kernel_for(g.depth), dim3(blocks), kernels_.block, std::size_t(kernels_.shared_bytes),
                 context_.stream(), g, source, target);
        });
  }

 private:
  using S = Scalar<T>;

  typename TemporalKernels<T>::Kernel kernel_for(int depth) const {
    return depth == deepest_ ? kernels_.deepest : kernels_.any;
  }

  TemporalArguments<S> arguments(const TemporalTaps& taps, const TemporalLayout& layout, int depth) const {
    TemporalArguments<S> g{};
    g.sweep = TemporalAxis<S>(problem_.domain, first_axis_);
    g.rows = TemporalAxis<S>(problem_.domain, 1);
    g.columns = TemporalAxis<S>(problem_.domain, 2);
    g.ends = SweepEnds(g.sweep);
    g.row_tiling = layout.rows, g.column_tiling = layout.columns;
    g.column_tiles = layout.column_tiles, g.row_tiles = layout.row_tiles;
    g.chunks = layout.chunks, g.chunk = layout.chunk;
    g.depth = depth;
    for (const auto& tap : problem_.taps) {
      const std::int64_t plane = taps.rank == 3 ? tap.offset[0] + taps.radius : 0;
      g.coefficients[plane][tap.offset[1] + taps.radius][tap.offset[2] + taps.radius] = S(tap.coefficient);
    }
    return g;
  }

  void set_strides(std::int64_t (&kernel)[3], const plugin::Index3& strides) const {
    kernel[0] = strides[std::size_t(first_axis_)];
    kernel[1] = strides[1], kernel[2] = strides[2];
  }

  static bool takes_vectors(const T* data, const std::int64_t (&strides)[3]) {
    return strides[2] == 1 && rows_aligned(data, strides, plugin::kAxes);
  }

  Context& context_;
  plugin::StencilProblem problem_;  ///< a step for each pass
  TemporalPasses passes_;
  int deepest_;     ///< steps of a pass
  int first_axis_;  ///< along which passes sweep
  TemporalKernels<T> kernels_;
  TemporalArguments<S> arguments_[2] = {};  ///< of the deeper passes, of the others
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  const TemporalTaps taps = *temporal_taps(problem);
  const int depth = int(parameters.at("depth"));
  if (taps.rank == 1) return make_temporal_line(context, problem, depth);
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<TemporalPlan<T>>(context, problem, taps, depth, int(parameters.at("chunk")));
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"temporal", why_not_temporal, offer_temporal, make, {.narrow = true, .ordered = true}}, 1};

}  // namespace
}  // namespace tessera::cuda
