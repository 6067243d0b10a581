// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Sweeps of a volume by a star on Hopper, by the kernels that step systems: one step a sweep, where bulk copies fill a
/// ring of planes, or several.

#include "marching.hpp"
#include "../context.hpp"
#include "../system/streaming_kernels.hpp"
#include "../system/streaming_offers.hpp"
#include "../system/temporal.hpp"
#include "temporal/temporal.hpp"

#include <tessera/plugin/plugin.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::StarForm;
using plugin::StencilProblem;

template <class T>
class MarchingPlan final : public plugin::Plan {
 public:
  MarchingPlan(Context& context, const StencilProblem& problem)
      : context_(context),
        problem_(problem),
        star_(marching_star(problem)),
        kernels_{streaming_kernel<T>(star_.radius, StarForm::heat, false),
                 streaming_kernel<T>(star_.radius, StarForm::heat, true)} {
    const DeviceGuard guard(context.device());
    require_tensor_maps();
    for (const StreamingKernel<T>& kernel : kernels_) kernel.prepare(context.machine().shared_per_block);
    const StreamingArrays<T> a = sizes();
    for (int i = 0; i < 2; ++i)
      planes_[i] = streaming_planes(kernels_[i], a, context.machine().multiprocessors, star_.radius);
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    plugin::for_each_sweep(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [this](const T* in, const plugin::Index3&, T* out, const plugin::Index3&) { sweep(in, out); });
  }

 private:
  StreamingArrays<T> sizes() const {
    const auto& extents = problem_.domain.extents;
    StreamingArrays<T> a{};
    a.nx = int(extents[2]), a.ny = int(extents[1]), a.nz = a.last = int(extents[0]);
    return a;
  }
  void sweep(const T* in, T* out) {
    StreamingArrays<T> a = sizes();
    a.next = out, a.u = in;
    const bool aligned = is_aligned(a, 0);
    const StreamingKernel<T>& kernel = kernels_[aligned ? 1 : 0];
    a.planes = planes_[aligned ? 1 : 0];
    kernel.run(star_, a, tensors_[aligned ? 1 : 0], context_.stream());
  }

  Context& context_;
  StencilProblem problem_;
  plugin::StarSystem star_;
  StreamingKernel<T> kernels_[2];  ///< for rows that are not aligned, and that are
  StreamingTensors tensors_[2];
  int planes_[2];  ///< that a block makes
};

/// Several steps a sweep.
template <class T>
class DeepMarchingPlan final : public plugin::Plan {
 public:
  DeepMarchingPlan(Context& context, const StencilProblem& problem, int depth)
      : context_(context), problem_(problem), passes_(problem.steps, depth) {
    problem_.steps = passes_.count();
    const plugin::StarSystem star = marching_star(problem);
    pass_ = wave_pass<T>(star, problem.domain.extents);
    pass_.layout = wave_layout<T>(problem.domain.extents, star.radius, depth, context.machine());
    const DeviceGuard guard(context.device());
    for (const bool aligned : {false, true}) {
      kernels_[aligned ? 1 : 0] = wave_kernel<T>(star.radius, star.form, aligned, false);
      kernels_[aligned ? 1 : 0].prepare(context.machine().shared_per_block);
    }
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    std::int64_t sweep = 0;
    plugin::for_each_sweep(problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
                           [&](const T* in, const plugin::Index3&, T* out, const plugin::Index3&) {
                             WavePass<T> pass = pass_;
                             pass.u = in, pass.newest = out;
                             pass.depth = int(passes_.depth(sweep++));
                             kernels_[is_aligned(pass) ? 1 : 0].run(pass, context_.stream());
                           });
  }

 private:
  Context& context_;
  StencilProblem problem_;  ///< a step for each sweep
  TemporalPasses passes_;
  WavePass<T> pass_;
  WaveKernel<T> kernels_[2];  ///< for rows that are not aligned, and that are
};

std::unique_ptr<plugin::Plan> make(Context& context, const StencilProblem& p, const plugin::Parameters& parameters) {
  const int depth = int(parameters.at("depth"));
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 if (depth > 1)
                                                   return std::make_unique<DeepMarchingPlan<T>>(context, p, depth);
                                                 return std::make_unique<MarchingPlan<T>>(context, p);
                                               });
}

std::string why_unsupported(const StencilProblem& p, const Machine& machine) {
  std::string why = why_not_marching(p, machine);
  if (!why.empty()) return why;
  const bool built = plugin::with_types<plugin::WideTypes>(p.dtype, []<class T>(std::type_identity<T>) {
    return streaming_kernel<T>(1, StarForm::heat, true).run != nullptr;
  });
  return built ? "" : "this build has no code for compute capability 9.0a";
}

const plugin::Register<Context, StencilProblem> kRegistered{{"marching", why_unsupported, offer_marching, make}, 1};

}  // namespace
}  // namespace tessera::cuda
