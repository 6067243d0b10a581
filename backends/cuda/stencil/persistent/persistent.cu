// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All steps of a domain that the device's registers hold, in one launch: see resident.cuh. Every boundary mode is
/// exact at every step.
#include "../algorithms.hpp"
#include "persistent_kernels.hpp"

#include "../../launch.cuh"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

template <class T>
class ResidentPlan final : public plugin::Plan {
 public:
  ResidentPlan(Context& context, const plugin::StencilProblem& problem, const TemporalTaps& taps,
               const ResidentLayout& layout)
      : context_(context),
        layout_(layout),
        kernel_(resident_kernel(std::type_identity<T>{}, taps, layout.rows)),
        arguments_(arguments(problem, taps, layout)),
        flags_(context, std::vector<std::uint32_t>(std::size_t(layout.blocks()) * kResidentFlagStride).data(),
               std::uint64_t(layout.blocks()) * kResidentFlagStride * sizeof(std::uint32_t)) {
    const DeviceGuard guard(context.device());
    prepare(kernel_.function, context.limits().shared_per_block);
  }

  /// Two turns, so that what is given next is not what others still read.
  std::uint64_t workspace_bytes() const override {
    if (arguments_.rounds == 1) return 0;
    return 2 * std::uint64_t(layout_.blocks()) * std::uint64_t(layout_.row_cut.size) * kStripWidth * sizeof(T);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    launch(kernel_.function, dim3(unsigned(layout_.blocks())), dim3(32, unsigned(layout_.warps)),
           std::size_t(kernel_.warp_bytes) * std::size_t(layout_.warps), context_.stream(), CooperativeGrid{},
           arguments_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(), flags_.template as<std::uint32_t>());
  }

 private:
  static ResidentArguments<T> arguments(const plugin::StencilProblem& problem, const TemporalTaps& taps,
                                        const ResidentLayout& layout) {
    ResidentArguments<T> g{};
    g.rows = TemporalAxis<T>(problem.domain, 1);
    g.columns = TemporalAxis<T>(problem.domain, 2);
    g.row_cut = layout.row_cut, g.column_cut = layout.column_cut;
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
  ResidentLayout layout_;
  ResidentKernel<T> kernel_;
  ResidentArguments<T> arguments_;
  DeviceTable flags_;  ///< of each block: rounds that it has given since the plan was made
};

int warp_bytes(const plugin::StencilProblem& problem, const TemporalTaps& taps) {
  const int rows = resident_rows(taps, problem.dtype == TESSERA_F64)[0];
  return problem.dtype == TESSERA_F64 ? resident_kernel(std::type_identity<double>{}, taps, rows).warp_bytes
                                      : resident_kernel(std::type_identity<float>{}, taps, rows).warp_bytes;
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   plugin::PlanOptions options) {
  const TemporalTaps taps = *temporal_taps(problem);
  const auto rows = resident_rows(taps, problem.dtype == TESSERA_F64);
  ResidentWish wish;
  const auto choose = [&] {
    const auto layout = choose_resident(problem, taps, context.limits().multiprocessors, wish);
    if (layout) return *layout;
    throw plugin::Error(TESSERA_INVALID_ARGUMENT, "no " + std::to_string(context.limits().multiprocessors) +
                                                      " blocks with depth = " + std::to_string(wish.depth) +
                                                      ", rows = " + std::to_string(wish.rows) + ", warps = " +
                                                      std::to_string(wish.warps) + " (0: any) cover the domain");
  };
  ResidentLayout layout = choose();
  // The best of all is the best of those with its parameters: only others ask for another choice.
  const auto take = [&](int& wanted, int chosen, std::int64_t value) {
    wanted = int(value);
    if (wanted != chosen) layout = choose();
  };
  auto& parameters = options.parameters;
  take(wish.depth, layout.depth, parameters.take("depth", layout.depth, 1, kResidentMostDepth));
  take(wish.rows, layout.rows,
       parameters.take("rows", layout.rows, std::vector<std::int64_t>(rows.begin(), rows.end())));
  take(wish.warps, layout.warps, parameters.take("warps", layout.warps, 1, kResidentMostWarps));
  if (problem.dtype == TESSERA_F64) return std::make_unique<ResidentPlan<double>>(context, problem, taps, layout);
  return std::make_unique<ResidentPlan<float>>(context, problem, taps, layout);
}

std::string why_unsupported(const plugin::StencilProblem& problem, int device) {
  const DeviceLimits limits = device_limits(device);
  if (const std::string why = why_not_resident(problem, limits.multiprocessors); !why.empty()) return why;
  if (!limits.cooperative) return "device " + std::to_string(device) + " has no cooperative launches";
  const int needed = kResidentMostWarps * warp_bytes(problem, *temporal_taps(problem));
  if (needed < limits.shared_per_block) return {};
  return "a block needs " + std::to_string(needed) + " bytes of shared memory; device " + std::to_string(device) +
         " has " + std::to_string(limits.shared_per_block);
}

}  // namespace

const StencilAlgorithm kStencilResident{"resident", why_unsupported, make, 0.60};

}  // namespace tessera::cuda
