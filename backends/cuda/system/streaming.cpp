// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Waves and diffusion near the rate of memory, on Hopper: one state that is stepped by a star.

#include "../context.hpp"
#include "../error.hpp"
#include "meeting_counters.hpp"
#include "model.hpp"
#include "steps_plan.hpp"
#include "streaming_kernels.hpp"
#include "streaming_offers.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::star_of;
using plugin::StarValue;
using plugin::SystemProblem;

/// A kernel of a type, a star and rows that are aligned or not.
template <class T>
StreamingKernel<T> kernel_for(const StarSystem& star, bool aligned) {
  return streaming_kernel<T>(star.radius, star.form, aligned);
}

template <class T>
class StreamingPlan final : public SystemStepsPlan {
 public:
  StreamingPlan(Context& context, const SystemProblem& problem, const StarSystem& star)
      : SystemStepsPlan(context, problem),
        star_(star),
        kernels_{kernel_for<T>(star, false), kernel_for<T>(star, true)} {
    const DeviceGuard guard(context.device());
    require_tensor_maps();
    for (const StreamingKernel<T>& kernel : kernels_) kernel.prepare(context.machine().shared_per_block);
    const StreamingArrays<T> a = sizes_of(problem);
    for (int i = 0; i < 2; ++i) {
      planes_[i] = streaming_planes(kernels_[i], a, context.machine().multiprocessors, star_.radius);
      if (streams_of(star.form) > 1)  // otherwise halos stay in the second-level cache by themselves
        meetings_[i] = MeetingCounters(context, streaming_blocks(kernels_[i], a, planes_[i]), planes_[i]);
    }
  }

 private:
  static StreamingArrays<T> sizes_of(const SystemProblem& p) {
    StreamingArrays<T> a{};
    a.nx = int(p.extents[2]), a.ny = int(p.extents[1]), a.nz = int(p.extents[0]);
    a.first = int(p.low[0]), a.last = int(p.high[0]);
    return a;
  }
  const T* at(const StarValue& value, std::int64_t step) const {
    return static_cast<const T*>(levels().at(value.field, value.level, step));
  }
  const T* at(int field) const { return static_cast<const T*>(levels().at(field, 0, 0)); }

  void make(int stage, std::int64_t step) override {
    if (stage != problem().updates.front().stage) return;
    StreamingArrays<T> a = sizes_of(problem());
    a.next = static_cast<T*>(levels().at(star_.made, 1, step));
    a.u = at(star_.u, step);
    int streams = 0;
    if (has_other(star_.form)) a.streams[streams++] = at(star_.other, step);
    if (has_array(star_.form)) a.streams[streams++] = at(star_.array);
    if (has_damping(star_.form)) a.streams[streams++] = at(star_.damping);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (star_.profiles[2 - axis] >= 0) a.profiles[axis] = at(star_.profiles[2 - axis]);
    const bool aligned = is_aligned(a, streams);
    const StreamingKernel<T>& kernel = kernels_[aligned ? 1 : 0];
    a.planes = planes_[aligned ? 1 : 0];
    a.meetings = meetings_[aligned ? 1 : 0].meetings();
    kernel.run(star_, a, tensors_[aligned ? 1 : 0], context().stream());
  }

  StarSystem star_;
  StreamingKernel<T> kernels_[2];  ///< for rows that are not aligned, and that are
  StreamingTensors tensors_[2];
  int planes_[2];  ///< that a block makes
  MeetingCounters meetings_[2];
};

std::string why_unsupported(const SystemProblem& p, const Machine& machine) {
  std::string why;
  const auto star = star_of(p, why);
  if (!star) return why;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (p.low[axis] != 0 || p.high[axis] != p.extents[axis]) return "makes whole planes of the domain";
  const std::int64_t extents[3] = {p.extents[0], p.extents[1], p.extents[2]};
  if (why = cuda::why_not_streaming(machine, extents); !why.empty()) return why;
  const bool built = plugin::with_types<plugin::WideTypes>(
      p.dtype, [&]<class T>(std::type_identity<T>) { return kernel_for<T>(*star, true).run != nullptr; });
  return built ? "" : "this build has no code for compute capability 9.0a";
}

/// Not fitted: what was measured on an H100 in domains of 64^3 to 768^3.
double streaming_seconds(const SystemProblem& p, const StarSystem& star, const Machine& machine) {
  constexpr double kAligned = 0.95, kUnaligned = 0.82, kCached = 3.0;
  constexpr std::int64_t kVectorBytes = 16;
  const bool aligned = p.extents[2] * std::int64_t(plugin::size_of(p.dtype)) % kVectorBytes == 0;
  const double bytes = compulsory_bytes(p);
  const double rate = machine.memory_rate * (bytes < 0.8 * double(machine.l2_bytes) ? kCached : 1.0);
  const double moving = bytes / (rate * (aligned ? kAligned : kUnaligned));
  const double launches = 1.0 + double(p.injections.size() + p.recordings.size());
  constexpr double kBegin = 4.6e-6, kBeginOfRadius = 0.9e-6;  // until the rings are full, and at the end
  const double fill = kBegin + kBeginOfRadius * star.radius;
  return double(p.steps) * (launches_seconds(machine, launches) + fill + moving);
}

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  std::string why;
  offers.add({{}, streaming_seconds(p, *star_of(p, why), machine), p.workspace_offsets().back()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters&) {
  std::string why;
  const auto star = star_of(p, why);
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<StreamingPlan<T>>(context, p, *star);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{{"streaming", why_unsupported, offer, make, {.boxes = true}},
                                                           1};

}  // namespace
}  // namespace tessera::cuda
