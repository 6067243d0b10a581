// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Waves and diffusion faster than the rate of memory, on Hopper: several steps in each pass over it.

#include "temporal.hpp"

#include "../context.hpp"
#include "../error.hpp"
#include "meeting_counters.hpp"
#include "model.hpp"
#include "streaming_offers.hpp"
#include "wave_points.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::star_of;
using plugin::SystemProblem;

/// Where the arrays of a plan's workspace begin: the newest level, the one before it, what is recorded; the end of all.
struct WaveWorkspace {
  std::uint64_t newest = 0, previous, recorded, end;

  WaveWorkspace(const SystemProblem& p, StarForm form, int depth) {
    constexpr std::uint64_t kAlignment = 256;
    const std::uint64_t size = plugin::size_of(p.dtype);
    previous = plugin::round_up(std::uint64_t(p.extents[0] * p.extents[1] * p.extents[2]) * size, kAlignment);
    recorded = previous * (has_other(form) ? 2 : 1);
    end = recorded + plugin::round_up(std::uint64_t(depth) * std::uint64_t(recorded_in_step(p)) * size, kAlignment);
  }
};

template <class T>
class TemporalWavePlan final : public plugin::Plan {
 public:
  TemporalWavePlan(Context& context, const SystemProblem& problem, const StarSystem& star, int depth)
      : context_(context),
        problem_(problem),
        star_(star),
        passes_(problem.steps, depth),
        layout_(wave_layout<T>(problem.extents, star.radius, passes_.deepest(), context.machine())),
        workspace_(problem, star.form, passes_.deepest()),
        points_(context, problem, layout_) {
    const bool profiles = std::any_of(star.profiles.begin(), star.profiles.end(), [](int field) { return field >= 0; });
    // Where less is read, or rows are not aligned, halos stay in the second-level cache by themselves.
    if (has_other(star.form) && has_array(star.form))
      meetings_ = MeetingCounters(context, layout_.blocks(), layout_.planes + 2 * star.radius * passes_.deepest());
    const DeviceGuard guard(context.device());
    for (const bool aligned : {false, true}) {
      kernels_[aligned ? 1 : 0] = wave_kernel<T>(star.radius, star.form, aligned, profiles);
      kernels_[aligned ? 1 : 0].prepare(context.machine().shared_per_block);
    }
  }

  std::uint64_t workspace_bytes() const override { return workspace_.end; }

  void execute(const plugin::Execution& execution) override {
    const DeviceGuard guard(context_.device());
    auto* const own = execution.workspace<std::byte>();
    const bool wave = has_other(star_.form), two = problem_.fields[std::size_t(star_.made)].levels == 2;
    const Levels made{reinterpret_cast<T*>(own), wave ? reinterpret_cast<T*>(own + workspace_.previous) : nullptr};
    const Levels given{operand(execution, 0), wave ? operand(execution, 1) : nullptr};
    const Levels final{operand(execution, place(0)), two ? operand(execution, place(-1)) : nullptr};
    WavePass<T> pass = pass_of(execution);
    pass.recorded = reinterpret_cast<T*>(own + workspace_.recorded);
    for (std::int64_t i = 0; i < passes_.count; ++i) {
      const bool back = i % 2 != 0;
      const Levels& from = back ? made : given;
      const Levels& to = !back ? made : i + 1 == passes_.count ? final : given;
      pass.u = from.newest, pass.v = from.previous;
      pass.newest = to.newest, pass.previous = to.previous;
      pass.depth = passes_.depth(i);
      points_.tell(pass, execution, passes_.begin(i));
      const bool aligned = is_aligned(pass);
      pass.meetings = aligned ? meetings_.meetings() : Meetings{};
      kernels_[aligned ? 1 : 0].run(pass, context_.stream());
      points_.sum(pass.recorded, pass.depth, execution, passes_.begin(i));
    }
    if (passes_.count % 2 != 0) bring_back(made.newest, given.newest, final);
  }

 private:
  struct Levels {
    T *newest, *previous;
  };

  /// After an odd number of passes, of a step each: the newest level is the plan's own, the one before it was read
  /// last.
  void bring_back(const T* newest, const T* read, const Levels& final) const {
    const auto copy = [this](T* to, const T* from) {
      TESSERA_CUDA_CHECK(cudaMemcpyAsync(to, from, std::size_t(problem_.points()) * sizeof(T), cudaMemcpyDeviceToDevice,
                                         context_.stream()));
    };
    if (final.previous != nullptr && final.previous != read) copy(final.previous, read);
    copy(final.newest, newest);
  }
  T* operand(const plugin::Execution& execution, int index) const {
    return execution.operand<T>(problem_.fields[std::size_t(star_.made)].first_operand + index);
  }
  /// Which of the caller's arrays has a level at the end: what takes its turn in single steps.
  int place(int level) const {
    const SystemProblem::Field& field = problem_.fields[std::size_t(star_.made)];
    const auto turn = [&](int l) {
      const std::int64_t count = field.arrays();
      return int(((-l - problem_.steps) % count + count) % count);
    };
    const int at = turn(level);
    return at == field.levels ? turn(1) : at;  // one that is the plan's own is brought to the array that is free
  }
  WavePass<T> pass_of(const plugin::Execution& execution) const {
    const auto at = [&](int field) {
      return static_cast<const T*>(execution.operand<T>(problem_.fields[std::size_t(field)].first_operand));
    };
    WavePass<T> pass = wave_pass<T>(star_, problem_.extents);
    pass.layout = layout_;
    if (star_.array >= 0) pass.a = at(star_.array);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (star_.profiles[2 - axis] >= 0) pass.profiles[axis] = at(star_.profiles[2 - axis]);
    return pass;
  }

  Context& context_;
  SystemProblem problem_;
  StarSystem star_;
  WavePasses passes_;
  WaveLayout layout_;
  WaveWorkspace workspace_;
  MeetingCounters meetings_;
  WavePoints points_;
  WaveKernel<T> kernels_[2];  ///< for rows that are not aligned, and that are
};

int deepest_of(const SystemProblem& p, const StarSystem& star) {
  return plugin::with_types<plugin::WideTypes>(
      p.dtype, [&]<class T>(std::type_identity<T>) { return wave_depth<T>(star.radius); });
}

std::string why_not_in_passes(const SystemProblem& p, const StarSystem& star) {
  if (star.form == StarForm::wave_damped) return "takes no damping array";
  if (deepest_of(p, star) == 0) return "takes stars of radius 1 to 3, in f64 1 and 2";
  const int levels = p.fields[std::size_t(star.made)].levels;
  if (has_other(star.form) && (star.other != plugin::StarValue{star.made, -1} || levels != 2))
    return "takes a state of two levels, and the level before the newest one beside the star";
  if (levels > 2) return "takes a state of one or two levels";
  for (const auto* list : {&p.injections, &p.recordings})
    for (const SystemProblem::Points& points : *list)
      if (points.field != star.made || points.stage != p.updates.front().stage)
        return "takes injections and recordings of the state that it makes, in the stage that makes it";
  constexpr std::int64_t kMostExtent = std::int64_t{1} << 30, kMostEntries = std::int64_t{1} << 28;
  if (*std::max_element(p.extents.begin(), p.extents.end()) > kMostExtent) return "takes up to 2^30 points an axis";
  std::int64_t entries = recorded_in_step(p);
  for (const SystemProblem::Points& points : p.injections) entries += std::int64_t(points.entries.size());
  return entries > kMostEntries ? "takes up to 2^28 points of injections and recordings" : "";
}

std::string why_unsupported(const SystemProblem& p, const Machine& machine) {
  std::string why;
  const auto star = star_of(p, why);
  if (!star) return why;
  if (why = why_not_in_passes(p, *star); !why.empty()) return why;
  const std::int64_t extents[3] = {p.extents[0], p.extents[1], p.extents[2]};
  if (why = why_not_streaming(machine, extents); !why.empty()) return why;
  const bool built = plugin::with_types<plugin::WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) {
    return wave_kernel<T>(star->radius, star->form, true, true).run != nullptr;
  });
  return built ? "" : "this build has no code for compute capability 9.0a";
}

/// Depths that passes of the steps can have. Others make the same passes as one of these.
std::vector<std::int64_t> useful_depths(std::int64_t steps, int deepest) {
  std::vector<std::int64_t> depths;
  for (int depth = 1; depth <= deepest; ++depth)
    if (WavePasses(steps, depth).deepest() == depth) depths.push_back(depth);
  return depths;
}

double pass_seconds(const SystemProblem& p, const StarSystem& star, int depth, const Machine& machine) {
  const double level = p.points() * double(plugin::size_of(p.dtype));
  const double bytes = compulsory_bytes(p) + (has_other(star.form) ? level : 0.0);  // a wave writes two levels
  const double launches = 1.0 + double(p.recordings.size());
  return launches_seconds(machine, launches) +
         plugin::with_types<plugin::WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) {
           return wave_pass_seconds<T>(star, p.extents, depth, bytes, machine);
         });
}

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters& given, std::uint64_t,
           plugin::OfferList& offers) {
  std::string why;
  const StarSystem star = *star_of(p, why);
  const int most = deepest_of(p, star);
  for (const std::int64_t depth : given.in_range("depth", useful_depths(p.steps, most), 1, most)) {
    const WavePasses passes(p.steps, depth);
    const int deepest = passes.deepest();
    offers.add({{{"depth", depth}},
                double(passes.count) * pass_seconds(p, star, deepest, machine),
                WaveWorkspace(p, star.form, deepest).end});
  }
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters& parameters) {
  std::string why;
  const auto star = star_of(p, why);
  const int depth = int(parameters.at("depth"));
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<TemporalWavePlan<T>>(context, p, *star, depth);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{{"temporal", why_unsupported, offer, make}, 1};

}  // namespace
}  // namespace tessera::cuda
