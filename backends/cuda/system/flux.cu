// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Diffusion through faces, near the rate of memory.
#include "flux.cuh"

#include "../launch.cuh"
#include "flux.hpp"
#include "model.hpp"
#include "steps_plan.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::SystemProblem;

constexpr int kLanes = 32, kRowsOfBlock = 8;

/// The kernel for rows that are aligned, or not.
template <class T, bool kAligned>
struct FluxKernel {
  static constexpr int kRows = kAligned ? 2 : 1;
  static constexpr int kBlocks = kAligned || sizeof(T) == 8 ? 2 : 3;  ///< of a multiprocessor
  static constexpr auto kernel = system_flux_kernel<T, kAligned, kRows, 0, kLanes * kRowsOfBlock, kBlocks>;

  static std::int64_t parts(std::int64_t all, std::int64_t size) { return (all + size - 1) / size; }
  static std::int64_t tiles_x(const FluxStep<T>& a) { return parts(a.nx, kLanes * RowPoints<T, kAligned>::kPoints); }
  static std::int64_t tiles_y(const FluxStep<T>& a) { return parts(a.ny, kRowsOfBlock * kRows); }

  /// Planes of a block. As an H100 shows, a wave of blocks takes as long as planes + 2.2, the last one less where it is
  /// not full. The shortest march within 3 % of the best.
  static int planes(const FluxStep<T>& a, int multiprocessors) {
    constexpr int kLeast = 4, kMost = 128;
    const std::int64_t tiles = tiles_x(a) * tiles_y(a), room = std::int64_t(kBlocks) * multiprocessors;
    const auto time = [&](int planes) {
      const std::int64_t blocks = tiles * parts(a.nz, planes), rest = blocks % room;
      const double last = rest == 0 ? 0.0 : std::clamp(double(rest) / double(room) + 0.09, 0.45, 1.0);
      return (double(blocks / room) + last) * (planes + 2.2);
    };
    double least = time(kLeast);
    for (int p = kLeast; p <= kMost; ++p) least = std::min(least, time(p));
    int chosen = kLeast;
    while (time(chosen) > 1.03 * least) ++chosen;
    return std::min(chosen, a.nz);
  }
  static void run(const FluxStep<T>& a, cudaStream_t stream) {
    const dim3 grid(unsigned(tiles_x(a)), unsigned(tiles_y(a)), unsigned(parts(a.nz, a.planes)));
    launch(kernel, grid, dim3(kLanes, kRowsOfBlock), 0, stream, a);
  }
};

template <class T>
class FluxPlan final : public SystemStepsPlan {
 public:
  FluxPlan(Context& context, const SystemProblem& problem, const FluxSystem& flux)
      : SystemStepsPlan(context, problem), flux_(flux) {
    const DeviceGuard guard(context.device());
    prepare(FluxKernel<T, true>::kernel), prepare(FluxKernel<T, false>::kernel);
    FluxStep<T>& a = step_;
    a.nx = int(problem.extents[2]), a.ny = int(problem.extents[1]), a.nz = int(problem.extents[0]);
    for (int axis = 0; axis < 3; ++axis) {
      a.low_weight[axis] = T(flux.weight[axis][0]), a.high_weight[axis] = T(flux.weight[axis][1]);
      a.low[axis] = 1, a.high[axis] = int(problem.extents[std::size_t(axis)]) - 1;
    }
    planes_[0] = FluxKernel<T, false>::planes(a, context.machine().multiprocessors);
    planes_[1] = FluxKernel<T, true>::planes(a, context.machine().multiprocessors);
  }

 private:
  void make(int stage, std::int64_t step) override {
    if (stage != problem().updates.front().stage) return;
    FluxStep<T> a = step_;
    a.u = static_cast<const T*>(levels().at(flux_.u, 0, step));
    a.k = static_cast<const T*>(levels().at(flux_.k, 0, step));
    a.next = static_cast<T*>(levels().at(flux_.u, 1, step));
    const bool aligned = rows_are_aligned<T>(a.nx, {a.u, a.k, a.next});
    a.planes = planes_[aligned ? 1 : 0];
    if (aligned)
      FluxKernel<T, true>::run(a, context().stream());
    else
      FluxKernel<T, false>::run(a, context().stream());
  }

  FluxSystem flux_;
  FluxStep<T> step_{};
  int planes_[2];
};

std::string why_unsupported(const SystemProblem& p, const Machine&) {
  std::string why;
  if (!flux_of(p, why)) return why;
  return why_not_in_rows(p);
}

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  constexpr double kRate = 0.9;  // of a copy, as an H100 shows in domains of 256^3 to 768^3
  offers.add({{}, rows_at_rate_seconds(machine, p, kRate), p.workspace_offsets().back()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters&) {
  std::string why;
  const auto flux = flux_of(p, why);
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<FluxPlan<T>>(context, p, *flux);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{{"flux", why_unsupported, offer, make}, 2};

}  // namespace
}  // namespace tessera::cuda
