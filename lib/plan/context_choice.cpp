// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a plan without a context gets one.
#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "plan/make_plan.hpp"
#include "plan/measure.hpp"
#include "plan/problem_text.hpp"
#include "plan/remember.hpp"
#include "plan/scratch.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::core {
namespace {

/// "cuda:0".
std::string label(const Dispatched& place) { return place.backend->full_name() + ":" + std::to_string(place.device); }

/// A backend's plan, with the times of its executions on operands in the host's memory.
struct Entrant {
  std::shared_ptr<Context> context;
  std::shared_ptr<Plan> plan;
  std::vector<double> times = {};

  void time(Scratch& scratch) {
    const tessera_execution execution = scratch.next(nullptr, 0);
    const auto start = std::chrono::steady_clock::now();
    plan->execute(execution);
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::string place() const { return context->name() + ":" + std::to_string(context->device()); }
  double typical() {
    const auto middle = times.begin() + std::ptrdiff_t((times.size() - 1) / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }
};

/// Times them in turns, behind an execution that does not count.
void race(std::vector<Entrant>& entrants, Scratch& scratch) {
  constexpr double kSeconds = 10e-3;
  constexpr int kLeast = 1, kMost = 101;
  for (Entrant& entrant : entrants) entrant.time(scratch), entrant.times.clear();
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < kMost; ++round) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (round >= kLeast && spent.count() > kSeconds) break;
    for (Entrant& entrant : entrants) entrant.time(scratch);
  }
}

/// " cuda:0 12 us, cpu-v4:0 34 us".
std::string times_of(std::vector<Entrant>& entrants) {
  std::string text;
  for (Entrant& e : entrants)
    text += (text.empty() ? " " : ", ") + e.place() + " " + text_of(e.typical() * 1e6) + " us";
  return text;
}

/// Completes what their plans have tried.
void tell_whole(std::vector<Tried>& tried, std::vector<Entrant>& entrants, const Entrant& winner) {
  for (Entrant& entrant : entrants)
    for (Tried& way : tried) {
      if (way.backend != entrant.context->name()) continue;
      if (way.chosen) way.whole_seconds = entrant.typical();
      way.chosen &= &entrant == &winner;
      way.estimated &= &entrant == &entrants.front();
    }
}

/// For the plan of one of so many backends.
PlanOptions part_of(PlanOptions options, std::size_t backends) {
  options.effort = TESSERA_EFFORT_MEASURE;
  options.contexts = nullptr;
  options.sharing = int(backends);
  options.part = true;
  return options;
}

using ContextOn = std::function<std::shared_ptr<Context>(const Dispatched&)>;

/// Those that can measure, on the places that are worth it.
std::vector<Entrant> entrants_of(const PlanRequest& request, const std::vector<Dispatched>& near,
                                 const ContextOn& context_on) {
  std::vector<Entrant> entrants;
  for (const Dispatched& place : near) {
    try {
      auto context = context_on(place);
      auto plan = make_plan(context, request.problem.desc(), part_of(request.options, near.size()));
      entrants.push_back({std::move(context), std::move(plan)});
    } catch (const Error& error) {
      if (request.options.tuning != nullptr)
        std::erase_if(*request.options.tuning,
                      [&](const Tried& way) { return way.backend == place.backend->full_name(); });
      request.say(label(place) + " is not measured: " + error.what());
    }
  }
  return entrants;
}

/// Null where there are no two that are worth it, or none could measure.
std::shared_ptr<Context> fastest_context(const PlanRequest& request, const std::vector<Dispatched>& ranked,
                                         const ContextOn& context_on, WisdomEntry entry) {
  constexpr double kHopeless = 4.0;
  std::vector<Dispatched> near;
  for (const Dispatched& place : ranked)
    if (place.seconds <= kHopeless * ranked.front().seconds) near.push_back(place);
  if (near.size() < 2) return nullptr;
  std::vector<Entrant> entrants = entrants_of(request, near, context_on);
  if (entrants.empty()) return nullptr;
  try {
    Scratch scratch(nullptr, request.problem);
    race(entrants, scratch);
  } catch (const Error& error) {
    if (request.options.tuning != nullptr) throw;
    request.say(std::string("backends are not compared, but estimated: ") + error.what());
    return entrants.front().context;
  }
  constexpr double kGain = 0.99;  // what is less is noise
  Entrant& best = *std::min_element(entrants.begin(), entrants.end(),
                                    [](Entrant& a, Entrant& b) { return a.typical() < b.typical(); });
  Entrant& winner = best.typical() < kGain * entrants.front().typical() ? best : entrants.front();
  if (request.options.tuning != nullptr) tell_whole(*request.options.tuning, entrants, winner);
  request.say("measured with what is transferred:" + times_of(entrants) + " of " + request.problem.text);
  entry.algorithm = winner.place();
  entry.seconds = winner.typical();
  entry.estimated_seconds = entrants.front().typical();
  remember(entry, request.options.tuning == nullptr, request.verbose >= 1);
  return winner.context;
}

}  // namespace

ChosenContext choose_context(const PlanRequest& request) {
  const PlanOptions& options = request.options;
  if (options.operands == TESSERA_MEMORY_DEVICE)
    invalid("operands", "device without a context", "pass the context whose device holds them");
  const Request asked{environment_backend(), request.algorithm};
  require_known_algorithm(asked, request.problem.op, nullptr);
  const PlanLimits most = limits(options, request.problem);
  const Question question{request.problem.desc(), options.operands, environment_threads(), most.workspace,
                          most.multiprocessors};
  const std::vector<Dispatched> ranked = dispatch_all(asked, question);
  const ContextOn context_on = [&](const Dispatched& place) {
    if (options.contexts != nullptr) return options.contexts->context(*place.backend, place.device, question.threads);
    return std::make_shared<Context>(*place.backend, place.device, nullptr, false, question.threads);
  };
  const bool known_by_model = request.problem.output_empty() || request.problem.op == TESSERA_OP_SYSTEM;
  if (ranked.size() < 2 || !request.algorithm.name.empty() || known_by_model || options.workspace != nullptr)
    return {context_on(ranked.front())};
  const std::string text = canonical_text(request.problem);
  const std::string machine = canonical_text(ranked, question.threads, most);
  const auto known = [&]() -> std::shared_ptr<Context> {
    const auto entry = options.tuning == nullptr ? recall(text, machine, request.verbose >= 1) : std::nullopt;
    for (const Dispatched& place : ranked)
      if (entry && label(place) == entry->algorithm) return context_on(place);
    return nullptr;
  };
  if (auto context = known()) return {context};
  if (effort(options) != TESSERA_EFFORT_MEASURE) return {context_on(ranked.front())};
  const std::lock_guard lock(measuring());
  if (auto context = known()) return {context};  // another thread has measured it meanwhile
  if (auto context = fastest_context(request, ranked, context_on, {text, machine, {}})) return {context, true};
  return {context_on(ranked.front())};
}

}  // namespace tessera::core
