// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All steps of a domain that the device's registers hold, in one launch: see persistent.cuh. Every boundary mode is
/// exact at every step.
#include "../../launch.cuh"
#include "../algorithms.hpp"
#include "persistent_kernels.hpp"

#include <algorithm>
#include <memory>
#include <string>
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
        flags_(context, std::vector<std::uint32_t>(std::size_t(layout.blocks()) * kPersistentFlagStride).data(),
               std::uint64_t(layout.blocks()) * kPersistentFlagStride * sizeof(std::uint32_t)) {
    const DeviceGuard guard(context.device());
    prepare(kernel_.function, context.limits().shared_per_block);
  }

  /// Two sets of arrays, so that what is published next is not what others still read.
  std::uint64_t workspace_bytes() const override {
    if (arguments_.rounds == 1) return 0;
    return 2 * std::uint64_t(layout_.blocks()) * std::uint64_t(layout_.row_tiling.size) * kWarpColumns * sizeof(T);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    launch(kernel_.function, dim3(unsigned(layout_.blocks())), dim3(32, unsigned(layout_.warps)),
           std::size_t(kernel_.warp_bytes) * std::size_t(layout_.warps), context_.stream(), CooperativeGrid{},
           arguments_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(), flags_.template as<std::uint32_t>());
  }

 private:
  static PersistentArguments<T> arguments(const plugin::StencilProblem& problem, const TemporalTaps& taps,
                                          const PersistentLayout& layout) {
    PersistentArguments<T> g{};
    g.rows = TemporalAxis<T>(problem.domain, 1);
    g.columns = TemporalAxis<T>(problem.domain, 2);
    g.row_tiling = layout.row_tiling, g.column_tiling = layout.column_tiling;
    const TemporalPasses rounds(problem.steps, layout.depth);
    g.rounds = int(rounds.count());
    g.depth = int((problem.steps + g.rounds - 1) / g.rounds);
    g.shallower = int(std::int64_t(g.rounds) * g.depth - problem.steps);
    for (const auto& tap : problem.taps)
      g.coefficients[tap.offset[1] + taps.radius][tap.offset[2] + taps.radius] = T(tap.coefficient);
    for (int axis = 0; axis < 2; ++axis) {
      g.in_strides[axis] = problem.in_strides[std::size_t(axis) + 1];
      g.out_strides[axis] = problem.out_strides[std::size_t(axis) + 1];
    }
    return g;
  }

  Context& context_;
  PersistentLayout layout_;
  PersistentKernel<T> kernel_;
  PersistentArguments<T> arguments_;
  DeviceTable flags_;  ///< of each block: rounds that it has published since the plan was made
};

int warp_bytes(const plugin::StencilProblem& problem, const TemporalTaps& taps) {
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) {
    return persistent_kernel<T>(taps, persistent_rows<T>(taps)[0]).warp_bytes;
  });
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   plugin::PlanOptions options) {
  const TemporalTaps taps = *temporal_taps(problem);
  const auto rows = persistent_rows(problem.dtype, taps);
  PersistentRequest request;
  const auto choose = [&] {
    const auto layout = choose_persistent(problem, taps, context.limits().multiprocessors, request);
    if (layout) return *layout;
    throw plugin::Error(TESSERA_INVALID_ARGUMENT, "no " + std::to_string(context.limits().multiprocessors) +
                                                      " blocks with depth = " + std::to_string(request.depth) +
                                                      ", rows = " + std::to_string(request.rows) + ", warps = " +
                                                      std::to_string(request.warps) + " (0: any) cover the domain");
  };
  PersistentLayout layout = choose();
  // The best of all is the best of those with its parameters: only others ask for another choice.
  const auto take = [&](int& wanted, int chosen, std::int64_t value) {
    wanted = int(value);
    if (wanted != chosen) layout = choose();
  };
  auto& parameters = options.parameters;
  take(request.depth, layout.depth, parameters.take("depth", layout.depth, 1, kPersistentMostDepth));
  take(request.rows, layout.rows,
       parameters.take("rows", layout.rows, std::vector<std::int64_t>(rows.begin(), rows.end())));
  take(request.warps, layout.warps, parameters.take("warps", layout.warps, 1, kPersistentMostWarps));
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<PersistentPlan<T>>(context, problem, taps, layout);
  });
}

std::string why_unsupported(const plugin::StencilProblem& problem, int device) {
  const DeviceLimits limits = device_limits(device);
  if (const std::string why = why_not_persistent(problem, limits.multiprocessors); !why.empty()) return why;
  if (!limits.cooperative) return "device " + std::to_string(device) + " has no cooperative launches";
  const int needed = kPersistentMostWarps * warp_bytes(problem, *temporal_taps(problem));
  if (needed < limits.shared_per_block) return {};
  return "a block needs " + std::to_string(needed) + " bytes of shared memory; device " + std::to_string(device) +
         " has " + std::to_string(limits.shared_per_block);
}

}  // namespace

const StencilAlgorithm kStencilPersistent{"persistent", why_unsupported, make, 0.60};

}  // namespace tessera::cuda
