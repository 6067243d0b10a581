// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/measure.hpp"

#include "check.hpp"
#include "plan/backend_plan.hpp"
#include "plan/scratch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

namespace tessera::core {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What a measurement may still take. Of a problem that takes more than a millisecond executions are counted, of others
/// time.
class Budget {
 public:
  /// `execution`: seconds of one.
  Budget(const Patience& patience, double execution)
      : seconds_(patience.seconds),
        executions_(std::clamp(patience.long_seconds / execution, double(patience.executions),
                               double(std::max(patience.executions, patience.most_executions)))),
        left_(executions_),
        counts_(execution >= kLong),
        limited_(!counts_) {}

  bool counts() const { return counts_; }
  void spend(int executions) { left_ -= executions; }
  /// Something takes so long: the problem may be a short one after all.
  void saw(double execution) { limited_ |= execution < kLong; }
  /// Whether there is something left, when `share` of all is held back.
  bool has(double share) const {
    return (!counts_ || left_ > share * executions_) && (!limited_ || seconds_since(start_) < (1.0 - share) * seconds_);
  }

 private:
  static constexpr double kLong = 1.2e-3;
  Clock::time_point start_ = Clock::now();
  double seconds_, executions_, left_;
  bool counts_, limited_;  // executions, time
};

/// A backend's plan on the scratch operands.
class Contender {
 public:
  Contender(const Way& offered, const std::shared_ptr<Context>& context, const Problem& problem,
            const PlanLimits& limits)
      : way(offered),
        plan_(std::make_unique<BackendPlan>(context, problem, limits, parse_algorithm(way.algorithm, "offer", true))) {}

  /// Of one of `count` executions; it does not count yet.
  double run(Scratch& scratch, void* workspace, int count) {
    const auto work = [&] {
      for (int i = 0; i < count; ++i) {
        const tessera_execution execution = scratch.next(workspace, way.workspace_bytes);
        plan_->execute(execution);
      }
    };
    return plan_->context().seconds_of(work) / count;
  }
  void count(double seconds) { times_.insert(std::upper_bound(times_.begin(), times_.end(), seconds), seconds); }
  bool counted() const { return !times_.empty(); }
  /// The lower quartile of its times: what disturbs makes them longer.
  double typical() const { return times_[(times_.size() - 1) / 4]; }
  std::unique_ptr<BackendPlan> take_plan() { return std::move(plan_); }

  const Way& way;

 private:
  std::vector<double> times_;  // the shortest first
  std::unique_ptr<BackendPlan> plan_;
};

constexpr double kHopeless = 3.0;  // times as slow as the fastest, as predicted or as timed

class Race {
 public:
  Race(const std::shared_ptr<Context>& context, const Problem& problem, const PlanLimits& limits,
       const std::vector<Way>& ways)
      : context_(context), problem_(problem), limits_(limits), ways_(ways), scratch_(context, problem) {
    std::uint64_t most = 0;
    for (const Way& way : ways)
      if (way.seconds <= kHopeless * ways.front().seconds) most = std::max(most, way.workspace_bytes);
    if (most > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
      throw Error(TESSERA_OUT_OF_MEMORY, "a workspace of " + std::to_string(most) + " bytes: there is no such memory");
    workspace_ = std::make_unique<DeviceMemory>(context, std::int64_t(most));
  }

  Measured run(const Patience& patience) {
    Contender& first = enter(ways_.front());
    const double warm = warm_up(first);
    Budget budget(patience, warm);
    time(first, warm, budget);
    qualify(budget);
    // A host that is disturbed for some milliseconds makes whatever short problems run then seem slow.
    double within = budget.counts() ? 1.34 : 4.0;
    for (int round = 0; round < patience.rounds; ++round, within = std::max(0.7 * within, 1.05)) again(within, budget);
    Contender& winner = verified(first);
    std::vector<TimedWay> timed;
    for (const auto& contender : contenders_)
      timed.push_back({contender->way.algorithm, contender->way.seconds, contender->typical()});
    return {winner.take_plan(), winner.typical(), first.typical(), std::move(timed)};
  }

 private:
  Contender& enter(const Way& way) {
    return *contenders_.emplace_back(std::make_unique<Contender>(way, context_, problem_, limits_));
  }
  double run(Contender& contender, int count) { return contender.run(scratch_, workspace_->data(), count); }

  /// Until the clocks of the device are up; the first one touches memory and loads code, and does not count. Returns
  /// the least time.
  double warm_up(Contender& first) {
    constexpr double kSeconds = 3e-3;
    const auto start = Clock::now();
    run(first, 1);
    double least = run(first, 1);
    while (seconds_since(start) < kSeconds) least = std::min(least, run(first, repetitions(least)));
    return least;
  }

  /// So many executions that the clock tells them apart from nothing.
  static int repetitions(double seconds, double span = 100e-6) {
    constexpr double kMost = 64.0;
    return int(std::clamp(span / seconds, 1.0, kMost));
  }
  void time(Contender& contender, double about, Budget& budget, double span = 100e-6) {
    const int count = repetitions(about, span);
    contender.count(run(contender, count));
    budget.spend(count);
  }

  /// Each once, the cheapest first, behind one that does not count.
  void qualify(Budget& budget) {
    constexpr double kHeldBack = 0.4, kShortSpan = 50e-6;
    constexpr double kLoading = 1e-3;  // of code, the first time
    for (std::size_t i = 1; i < ways_.size() && budget.has(kHeldBack); ++i) {
      if (ways_[i].seconds > kHopeless * ways_.front().seconds) break;
      const std::size_t before = contenders_.size();
      const double most = kHopeless * fastest().typical();
      try {
        Contender& next = enter(ways_[i]);
        double once = run(next, 1);
        budget.spend(1);
        budget.saw(once);
        if (once > most && most < kLoading) once = std::min(run(next, 1), run(next, 1));
        if (once <= most) time(next, once, budget, kShortSpan);
        if (!next.counted()) contenders_.resize(before);
      } catch (const Error&) {  // what cannot be made, or cannot run, is no contender; a dead context says so below
        context_->synchronize();
        contenders_.resize(before);
      }
    }
  }

  /// Those that are within a factor of the fastest, each once more, in turns.
  void again(double within, Budget& budget) {
    const double most = within * fastest().typical();
    std::vector<Contender*> near;
    for (const auto& contender : contenders_)
      if (contender->typical() <= most) near.push_back(contender.get());
    if (near.size() < 2) return;
    if (forth_ = !forth_; !forth_) std::reverse(near.begin(), near.end());
    for (Contender* contender : near) {
      if (!budget.has(0.0)) return;
      time(*contender, contender->typical(), budget);
    }
  }

  /// The first of equals, which was predicted to be the faster.
  Contender& fastest() const {
    return **std::min_element(contenders_.begin(), contenders_.end(),
                              [](const auto& a, const auto& b) { return a->typical() < b->typical(); });
  }

  /// The fastest whose result is that of the first; the first, which nobody doubts, else.
  Contender& verified(Contender& first) {
    constexpr double kGain = 0.99;  // what is less is noise
    Contender* winner = &fastest();
    if (winner == &first || winner->typical() > kGain * first.typical()) return first;
    const auto result_of = [this](Contender& contender) {
      scratch_.spoil();
      scratch_.restart();
      run(contender, 1);
      return scratch_.sample();
    };
    const std::vector<double> expected = result_of(first), result = result_of(*winner);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double x = expected[i], y = result[i];
      const bool same =
          x == y || std::abs(x - y) <= scratch_.tolerance(x) || (scratch_.beyond(x) && scratch_.beyond(y));
      if (!same)
        throw Error(TESSERA_INTERNAL, context_->name() + "/" + winner->way.algorithm + " computes " + text_of(y) +
                                          " where " + first.way.algorithm + " computes " + text_of(x) +
                                          "; the plan is made without measuring");
    }
    return *winner;
  }

  std::shared_ptr<Context> context_;
  const Problem& problem_;
  PlanLimits limits_;
  const std::vector<Way>& ways_;
  Scratch scratch_;
  std::unique_ptr<DeviceMemory> workspace_;
  std::vector<std::unique_ptr<Contender>> contenders_;
  bool forth_ = false;  ///< the direction of the last round
};

}  // namespace

std::string Measured::text() const {
  return plan->algorithm() + ", " + text_of(seconds * 1e6, 3) + " us, the fastest of " + std::to_string(timed.size()) +
         ", " + fixed_text_of(estimated_seconds / seconds, 2) + " times as fast as the estimate";
}

std::recursive_mutex& measuring() {
  static auto* const mutex = new std::recursive_mutex;  // plans in static objects may be made at any time
  return *mutex;
}

Measured measure(const std::shared_ptr<Context>& context, const Problem& problem, const PlanLimits& limits,
                 const std::vector<Way>& ways, const Patience& patience) {
  const std::lock_guard lock(measuring());
  context->synchronize();
  return Race(context, problem, limits, ways).run(patience);
}

}  // namespace tessera::core
