// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a plan gets its algorithm.
#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "plan/measure.hpp"
#include "plan/offers.hpp"
#include "plan/plan.hpp"
#include "plan/problem_json.hpp"
#include "plan/problem_text.hpp"
#include "plan/remember.hpp"
#include "plan/verbose.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tessera::core {

/// By wisdom, by measuring, or by the model, where an algorithm is not forced with all that it has.
void Plan::choose(const AlgorithmSpec& forced, const PlanOptions& options) {
  const bool tunes = options.tuning != nullptr && !compared_;
  const bool measures = tunes || effort(options) == TESSERA_EFFORT_MEASURE;
  const bool concerned = concerns(forced, context_->backend().name(), context_->backend().variant());
  if (concerned && !forced.parameters.empty()) {
    if (tunes) invalid(forced.source, "'" + forced.name + "' with parameters", "leaves nothing to tune");
    create(forced);
    chosen_ = "forced";
    return;
  }
  if (output_empty_) {
    if (tunes) invalid("desc", "'" + problem_.text + "'", "has an empty output, so that there is nothing to tune");
    return create(forced);
  }
  if (problem_.op == TESSERA_OP_SYSTEM) {  // nothing is measured yet, so wisdom has none
    if (tunes) throw Error(TESSERA_UNSUPPORTED, "systems are not tuned: their plans follow the model of time");
    if (measures && verbose_ >= 1) print_verbose("not measured, but estimated: a system");
    return create(forced);
  }
  const bool staged = operands_ == TESSERA_MEMORY_HOST && !context_->on_host();
  const Problem problem = staged ? problem_.packed() : problem_.copy();
  const std::string text = canonical_text(problem);
  const std::string machine =
      canonical_text(*context_, operands_, workspace_limit_, concerned ? forced.name : std::string());
  if (!tunes && create_by_wisdom(text, machine)) return;
  if (!measures) return create(forced);
  const std::lock_guard lock(measuring());
  if (!tunes && create_by_wisdom(text, machine)) return;  // another thread has measured it meanwhile
  if (!create_by_measuring(problem, forced, options, {text, machine, {}})) create(forced);
}

bool Plan::create_by_wisdom(const std::string& problem, const std::string& machine) {
  const std::optional<WisdomEntry> entry = recall(problem, machine, verbose_ >= 1);
  if (!entry) return false;
  try {
    create(parse_algorithm(entry->algorithm, "wisdom", true));
    if (algorithm_ != entry->algorithm)
      invalid("wisdom", "'" + entry->algorithm + "'", "must name an algorithm with all its parameters");
  } catch (const Error& error) {
    const tessera_status status = error.status();
    const bool unsuitable = status == TESSERA_INVALID_ARGUMENT || status == TESSERA_UNSUPPORTED;
    if (!unsuitable && status != TESSERA_OUT_OF_MEMORY) throw;
    if (verbose_ >= 1) print_verbose(std::string("wisdom is ignored: ") + error.what());
    return false;
  }
  chosen_ = compared_ ? "measured" : "from wisdom";
  by_time_ = true;
  return true;
}

bool Plan::create_by_measuring(const Problem& problem, const AlgorithmSpec& forced, const PlanOptions& options,
                               WisdomEntry entry) {
  const std::vector<Way> ways = ways_to_run(*context_, problem, operands_, workspace_limit_, forced);
  const Patience& patience = options.tuning == nullptr ? kPatienceOfPlans : kPatienceOfTuning;
  try {
    const Measured measured = measure(context_, problem, workspace_limit_, ways, patience.shared_by(options.sharing));
    entry.algorithm = measured.algorithm;
    entry.seconds = measured.seconds;
    entry.estimated_seconds = measured.estimated_seconds;
    if (verbose_ >= 1) print_verbose("measured " + measured.text() + " of " + problem_.text);
    if (options.tuning != nullptr) tell(measured, *options.tuning);
  } catch (const Error& error) {
    if (options.tuning != nullptr) throw;
    if (error.status() == TESSERA_INVALID_ARGUMENT)  // a stream that is being captured
      throw Error(error.status(), std::string("effort = measure: ") + error.what());
    if (error.status() != TESSERA_OUT_OF_MEMORY && error.status() != TESSERA_INTERNAL) throw;
    if (verbose_ >= 1) print_verbose(std::string("not measured, but estimated: ") + error.what());
    return false;
  }
  by_time_ = true;
  create(parse_algorithm(entry.algorithm, "measured", true));
  chosen_ = "measured";
  remember(entry, options.tuning == nullptr, verbose_ >= 1);
  return true;
}

void Plan::tell(const Measured& measured, std::vector<Tried>& tried) const {
  for (const TimedWay& way : measured.timed)
    tried.push_back({.backend = context_->name(),
                     .device = context_->device(),
                     .algorithm = way.algorithm,
                     .predicted_seconds = way.predicted_seconds,
                     .seconds = way.seconds,
                     .estimated = &way == &measured.timed.front(),
                     .chosen = way.algorithm == measured.algorithm});
}

/// For `tessera tune --log`. `placed`: the program says where the plan runs.
void Plan::print_problem(const AlgorithmSpec& algorithm, const PlanOptions& options, bool placed) const {
  const bool concerned = concerns(algorithm, context_->backend().name(), context_->backend().variant());
  if (output_empty_ || problem_.op == TESSERA_OP_SYSTEM || (concerned && !algorithm.parameters.empty()))
    return;  // nothing is left to tune
  const bool said = placed || !environment_backend().name.empty();
  const std::string place = said ? context_->name() + ":" + std::to_string(context_->device()) : std::string();
  print_verbose("problem " + json_of(problem_, place, placed ? context_->threads() : 0,
                                     concerned ? algorithm : AlgorithmSpec(), options));
}

}  // namespace tessera::core
