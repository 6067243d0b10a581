// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/measure.hpp"

#include "check.hpp"
#include "plan/options.hpp"
#include "plan/scratch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
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
  explicit Budget(double execution) : counts_(execution >= kLong), limited_(!counts_) {}

  bool counts() const { return counts_; }
  void spend(int executions) { left_ -= executions; }
  /// Something takes so long: the problem may be a short one after all.
  void saw(double execution) { limited_ |= execution < kLong; }
  /// Whether there is something left, when `share` of all is held back.
  bool has(double share) const {
    return (!counts_ || left_ > share * kExecutions) && (!limited_ || seconds_since(start_) < (1.0 - share) * kSeconds);
  }

 private:
  static constexpr double kLong = 1.2e-3, kSeconds = 25e-3, kExecutions = 25;
  Clock::time_point start_ = Clock::now();
  bool counts_, limited_;  // executions, time
  double left_ = kExecutions;
};

/// A plugin's plan on the scratch operands.
class Contender {
 public:
  Contender(const Way& offered, Context& context, const Problem& problem, std::uint64_t workspace_limit)
      : way(offered), plan_(nullptr, {&context}) {
    const AlgorithmSpec spec = parse_algorithm(way.algorithm, "offer", true);
    const std::vector<tessera_parameter> parameters = c_parameters(spec);
    tessera_plan_request request{};
    request.struct_size = sizeof request;
    request.desc = problem.desc();
    request.workspace_limit = workspace_limit;
    force(spec, parameters, request);
    tessera_plan_reply reply{};
    reply.struct_size = sizeof reply;
    tessera_backend_plan* made = nullptr;
    context.call(context.table().plan_create, context.handle(), &request, &made, &reply);
    plan_.reset(made);
  }

  /// Of one of `count` executions.
  double time(Scratch& scratch, void* workspace, int count) {
    Context& context = *plan_.get_deleter().context;
    context.synchronize();
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) {
      const tessera_execution execution = scratch.next(workspace, way.workspace_bytes);
      context.call(context.table().plan_execute, plan_.get(), &execution);
    }
    context.synchronize();
    times_.push_back(seconds_since(start) / count);
    std::sort(times_.begin(), times_.end());
    return times_.front();
  }
  /// The median of its times.
  double typical() const { return times_[(times_.size() - 1) / 2]; }
  void forget() { times_.clear(); }

  const Way& way;

 private:
  std::vector<double> times_;  // the shortest first
  struct Destroy {
    Context* context;
    void operator()(tessera_backend_plan* plan) const { context->table().plan_destroy(plan); }
  };
  std::unique_ptr<tessera_backend_plan, Destroy> plan_;
};

class Race {
 public:
  Race(const std::shared_ptr<Context>& context, const Problem& problem, std::uint64_t workspace_limit,
       const std::vector<Way>& ways)
      : context_(context), problem_(problem), limit_(workspace_limit), ways_(ways), scratch_(context, problem) {
    std::uint64_t most = 0;
    for (const Way& way : ways) most = std::max(most, way.workspace_bytes);
    if (most > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
      throw Error(TESSERA_OUT_OF_MEMORY, "a workspace of " + std::to_string(most) + " bytes: there is no such memory");
    workspace_ = std::make_unique<DeviceMemory>(context, std::int64_t(most));
  }

  Measured run() {
    Contender& first = enter(ways_.front());
    warm_up(first);
    Budget budget(first.typical());
    qualify(budget);
    constexpr int kRounds = 16;
    for (int round = 0; round < kRounds; ++round) again(1.04 + 0.3 / (1 + round), budget);
    const Contender& winner = verified(first);
    return {winner.way.algorithm, winner.typical(), first.typical(), int(contenders_.size())};
  }

 private:
  Contender& enter(const Way& way) {
    return *contenders_.emplace_back(std::make_unique<Contender>(way, *context_, problem_, limit_));
  }
  double time(Contender& contender, int count) { return contender.time(scratch_, workspace_->data(), count); }

  /// Until the clocks of the device are up; the first one touches memory and loads code, and does not count.
  void warm_up(Contender& first) {
    constexpr double kSeconds = 3e-3;
    const auto start = Clock::now();
    time(first, 1);
    do {
      first.forget();
      time(first, 1);
    } while (seconds_since(start) < kSeconds);
  }

  /// So many executions that the clock tells them apart from nothing.
  static int repetitions(double seconds, const Budget& budget) {
    constexpr double kSpan = 200e-6;
    return budget.counts() ? 1 : int(std::clamp(kSpan / seconds, 1.0, 64.0));
  }

  /// Each once, the cheapest first, behind one that does not count.
  void qualify(Budget& budget) {
    constexpr double kHopeless = 3.0, kHeldBack = 0.4;
    for (std::size_t i = 1; i < ways_.size() && budget.has(kHeldBack); ++i) {
      if (ways_[i].seconds > kHopeless * ways_.front().seconds) break;
      const std::size_t before = contenders_.size();
      try {
        Contender& next = enter(ways_[i]);
        const double once = time(next, 1);
        budget.spend(1);
        budget.saw(once);
        if (once > kHopeless * fastest().typical()) continue;
        next.forget();
        time(next, repetitions(once, budget));
        budget.spend(1);
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
    for (Contender* contender : near) {
      if (!budget.has(0.0)) return;
      const int count = repetitions(contender->typical(), budget);
      time(*contender, count);
      budget.spend(count);
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
    scratch_.restart();
    time(first, 1);
    const std::vector<double> expected = scratch_.sample();
    scratch_.restart();
    time(*winner, 1);
    const std::vector<double> result = scratch_.sample();
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double x = expected[i], y = result[i];
      const bool same = x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= scratch_.tolerance(x);
      if (!same)
        throw Error(TESSERA_INTERNAL, context_->name() + "/" + winner->way.algorithm + " computes " + text_of(y) +
                                          " where " + first.way.algorithm + " computes " + text_of(x) +
                                          "; the plan is made without measuring");
    }
    return *winner;
  }

  std::shared_ptr<Context> context_;
  const Problem& problem_;
  std::uint64_t limit_;
  const std::vector<Way>& ways_;
  Scratch scratch_;
  std::unique_ptr<DeviceMemory> workspace_;
  std::vector<std::unique_ptr<Contender>> contenders_;
};

}  // namespace

std::string Measured::text() const {
  std::array<char, 96> figures{};
  std::snprintf(figures.data(), figures.size(), ", %.3g us, the fastest of %d, %.2f times as fast as the estimate",
                seconds * 1e6, timed, estimated_seconds / seconds);
  return algorithm + figures.data();
}

Measured measure(const std::shared_ptr<Context>& context, const Problem& problem, std::uint64_t workspace_limit,
                 const std::vector<Way>& ways) {
  static std::mutex alone;
  const std::lock_guard lock(alone);
  context->synchronize();
  return Race(context, problem, workspace_limit, ways).run();
}

}  // namespace tessera::core
