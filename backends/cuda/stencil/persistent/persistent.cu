// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All steps of a domain that the device's registers hold, in one launch: see persistent.cuh. Every boundary mode is
/// exact at every step.
#include "../../context.hpp"
#include "../../launch.cuh"
#include "persistent_kernels.hpp"

#include <tessera/plugin/plugin.hpp>

#include <memory>
#include <vector>

namespace tessera::cuda {
namespace {

template <class T>
class PersistentPlan final : public plugin::Plan {
 public:
  PersistentPlan(Context& context, const plugin::StencilProblem& problem, const TemporalTaps& taps,
                 const PersistentLayout& layout)
      : context_(context),
        layout_(layout),
        kernel_(persistent_kernel<T>(taps, layout.rows)),
        arguments_(arguments(problem, taps, layout)),
        workspace_bytes_(persistent_workspace(problem, layout)),
        flags_(context, std::vector<std::uint32_t>(std::size_t(layout.blocks()) * kPersistentFlagStride).data(),
               std::uint64_t(layout.blocks()) * kPersistentFlagStride * sizeof(std::uint32_t)) {
    const DeviceGuard guard(context.device());
    prepare(kernel_.function, context.machine().shared_per_block);
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    launch(kernel_.function, dim3(unsigned(layout_.blocks())), dim3(32, unsigned(layout_.warps)),
           std::size_t(kernel_.warp_bytes) * std::size_t(layout_.warps), context_.stream(), CooperativeGrid{},
           arguments_, e.operand<const T>(0), e.operand<T>(1), e.workspace<Scalar<T>>(),
           flags_.template as<std::uint32_t>());
  }

 private:
  static PersistentArguments<Scalar<T>> arguments(const plugin::StencilProblem& problem, const TemporalTaps& taps,
                                                  const PersistentLayout& layout) {
    using S = Scalar<T>;
    PersistentArguments<S> g{};
    g.rows = TemporalAxis<S>(problem.domain, 1);
    g.columns = TemporalAxis<S>(problem.domain, 2);
    g.row_tiling = layout.row_tiling, g.column_tiling = layout.column_tiling;
    const TemporalPasses rounds(problem.steps, layout.depth);
    g.rounds = int(rounds.count());
    g.depth = int((problem.steps + g.rounds - 1) / g.rounds);
    g.shallower = int(std::int64_t(g.rounds) * g.depth - problem.steps);
    for (const auto& tap : problem.taps)
      g.coefficients[tap.offset[1] + taps.radius][tap.offset[2] + taps.radius] = S(tap.coefficient);
    for (int axis = 0; axis < 2; ++axis) {
      g.in_strides[axis] = problem.in_strides[std::size_t(axis) + 1];
      g.out_strides[axis] = problem.out_strides[std::size_t(axis) + 1];
    }
    return g;
  }

  Context& context_;
  PersistentLayout layout_;
  PersistentKernel<T> kernel_;
  PersistentArguments<Scalar<T>> arguments_;
  std::uint64_t workspace_bytes_;
  DeviceTable flags_;  ///< of each block: rounds that it has published since the plan was made
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  const TemporalTaps taps = *temporal_taps(problem);
  const PersistentLayout layout = persistent_layout(problem, taps, context.machine(), parameters);
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<PersistentPlan<T>>(context, problem, taps, layout);
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"persistent", why_not_persistent, offer_persistent, make, {.narrow = true, .ordered = true}}, 2};

}  // namespace
}  // namespace tessera::cuda
