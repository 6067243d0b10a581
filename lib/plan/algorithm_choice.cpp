// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a plan gets its algorithm.
#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "plan/backend_plan.hpp"
#include "plan/make_plan.hpp"
#include "plan/measure.hpp"
#include "plan/problem_text.hpp"
#include "plan/remember.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::core {
namespace {

/// Where a problem will run, and the keys of its wisdom.
struct Place {
  const ChosenContext& where;
  const Problem& seen;
  PlanLimits limits;
  std::string text, machine;
};

Place place_of(const PlanRequest& request, const ChosenContext& where, const Problem& seen, const PlanLimits& limits) {
  Context& context = *where.context;
  const bool concerned = concerns(request.algorithm, context.backend());
  const std::string forced = concerned ? request.algorithm.name : std::string();
  return {where, seen, limits, canonical_text(seen), canonical_text(context, request.options.operands, limits, forced)};
}

/// No plan where wisdom has none.
std::optional<ChosenPlan> choose_by_wisdom(const PlanRequest& request, const Place& place) {
  const std::optional<WisdomEntry> entry = recall(place.text, place.machine, request.verbose >= 1);
  if (!entry) return std::nullopt;
  try {
    auto plan = std::make_unique<BackendPlan>(place.where.context, place.seen, place.limits,
                                              parse_algorithm(entry->algorithm, "wisdom", true));
    if (plan->algorithm() != entry->algorithm)
      invalid("wisdom", "'" + entry->algorithm + "'", "must name an algorithm with all its parameters");
    return ChosenPlan{std::move(plan), place.where.compared ? "measured" : "from wisdom", true};
  } catch (const Error& error) {
    const tessera_status status = error.status();
    const bool unsuitable = status == TESSERA_INVALID_ARGUMENT || status == TESSERA_UNSUPPORTED;
    if (!unsuitable && status != TESSERA_OUT_OF_MEMORY) throw;
    request.say(std::string("wisdom is ignored: ") + error.what());
    return std::nullopt;
  }
}

void tell(const Context& context, const Measured& measured, std::vector<Tried>& tried) {
  for (const TimedWay& way : measured.timed)
    tried.push_back({.backend = context.name(),
                     .device = context.device(),
                     .algorithm = way.algorithm,
                     .predicted_seconds = way.predicted_seconds,
                     .seconds = way.seconds,
                     .estimated = &way == &measured.timed.front(),
                     .chosen = way.algorithm == measured.plan->algorithm()});
}

/// No plan where nothing could be measured.
std::optional<ChosenPlan> choose_by_measuring(const PlanRequest& request, const Place& place) {
  const PlanOptions& options = request.options;
  const std::shared_ptr<Context>& context = place.where.context;
  const std::vector<Way> ways = ways_to_run(*context, place.seen, options.operands, place.limits, request.algorithm);
  const Patience& patience = options.tuning == nullptr ? kPatienceOfPlans : kPatienceOfTuning;
  try {
    Measured measured = measure(context, place.seen, place.limits, ways, patience.shared_by(options.sharing));
    request.say("measured " + measured.text() + " of " + request.problem.text);
    if (options.tuning != nullptr) tell(*context, measured, *options.tuning);
    remember({place.text, place.machine, measured.plan->algorithm(), measured.seconds, measured.estimated_seconds},
             options.tuning == nullptr, request.verbose >= 1);
    return ChosenPlan{std::move(measured.plan), "measured", true};
  } catch (const Error& error) {
    if (options.tuning != nullptr) throw;
    if (error.status() == TESSERA_INVALID_ARGUMENT)  // a stream that is being captured
      throw Error(error.status(), std::string("effort = measure: ") + error.what());
    if (error.status() != TESSERA_OUT_OF_MEMORY && error.status() != TESSERA_INTERNAL) throw;
    request.say(std::string("not measured, but estimated: ") + error.what());
    return std::nullopt;
  }
}

/// A name may be all that was forced: then the model has chosen the parameters, where there are any.
const char* how_by_model(const PlanRequest& request, const BackendPlan& plan) {
  const Backend& backend = plan.context().backend();
  if (!concerns(request.algorithm, backend)) return "estimated";
  const bool settled = request.forces_all(backend) || plan.algorithm().find(':') == std::string::npos;
  return settled ? "forced" : "forced, parameters estimated";
}

}  // namespace

ChosenPlan choose_by_model(const PlanRequest& request, const ChosenContext& where, const Problem& seen,
                           const PlanLimits& limits) {
  auto plan = std::make_unique<BackendPlan>(where.context, seen, limits, request.algorithm);
  const char* const how = how_by_model(request, *plan);
  return {std::move(plan), how};
}

ChosenPlan choose_algorithm(const PlanRequest& request, const ChosenContext& where, const Problem& seen,
                            const PlanLimits& limits) {
  const bool tunes = request.options.tuning != nullptr && !where.compared;
  const bool measures = tunes || effort(request.options) == TESSERA_EFFORT_MEASURE;
  const AlgorithmSpec& forced = request.algorithm;
  const auto by_model = [&] { return choose_by_model(request, where, seen, limits); };
  if (request.forces_all(where.context->backend())) {
    if (tunes) invalid(forced.source, "'" + forced.name + "' with parameters", "leaves nothing to tune");
    return by_model();
  }
  if (request.problem.output_empty()) {
    if (tunes)
      invalid("desc", "'" + request.problem.text + "'", "has an empty output, so that there is nothing to tune");
    return by_model();
  }
  if (request.problem.op == TESSERA_OP_SYSTEM) {  // nothing is measured yet, so wisdom has none
    if (tunes) throw Error(TESSERA_UNSUPPORTED, "systems are not tuned: their plans follow the model of time");
    if (measures) request.say("not measured, but estimated: a system");
    return by_model();
  }
  const Place place = place_of(request, where, seen, limits);
  const auto known = [&] { return tunes ? std::nullopt : choose_by_wisdom(request, place); };
  if (auto chosen = known()) return std::move(*chosen);
  if (!measures) return by_model();
  const std::lock_guard lock(measuring());
  if (auto chosen = known()) return std::move(*chosen);  // another thread has measured it meanwhile
  if (auto chosen = choose_by_measuring(request, place)) return std::move(*chosen);
  return by_model();
}

}  // namespace tessera::core
