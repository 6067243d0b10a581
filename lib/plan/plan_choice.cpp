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
#include "plan/problem_text.hpp"
#include "plan/verbose.hpp"
#include "wisdom/wisdom.hpp"
#include "wisdom/wisdom_file.hpp"

#include <string>
#include <vector>

namespace tessera::core {

/// By wisdom, by measuring, or by the model, where an algorithm is not forced with all that it has.
void Plan::choose(const AlgorithmSpec& forced, const PlanOptions& options) {
  const bool measures = effort(options) == TESSERA_EFFORT_MEASURE;
  const bool concerned = concerns(forced, context_->backend().name(), context_->backend().variant());
  if (concerned && !forced.parameters.empty()) {
    create(forced);
    chosen_ = "forced";
    return;
  }
  const bool staged = operands_ == TESSERA_MEMORY_HOST && !context_->on_host();
  const Problem problem = staged ? problem_.packed() : problem_.copy();
  const std::string text = canonical_text(problem);
  const std::string machine =
      canonical_text(*context_, operands_, workspace_limit_, concerned ? forced.name : std::string());
  if (output_empty_) return create(forced);
  if (create_by_wisdom(text, machine)) return;
  if (measures && create_by_measuring(problem, forced, text, machine)) return;
  create(forced);
}

bool Plan::create_by_wisdom(const std::string& problem, const std::string& machine) {
  const Wisdom::Found found = Wisdom::instance().find(problem, machine, environment_wisdom());
  if (!found.remark.empty() && verbose_ >= 1) print_verbose(found.remark);
  if (!found.entry) return false;
  try {
    create(parse_algorithm(found.entry->algorithm, "wisdom", true));
    if (algorithm_ != found.entry->algorithm)
      invalid("wisdom", "'" + found.entry->algorithm + "'", "must name an algorithm with all its parameters");
  } catch (const Error& error) {
    if (error.status() != TESSERA_INVALID_ARGUMENT && error.status() != TESSERA_UNSUPPORTED) throw;
    if (verbose_ >= 1) print_verbose(std::string("wisdom is ignored: ") + error.what());
    return false;
  }
  chosen_ = "from wisdom";
  return true;
}

bool Plan::create_by_measuring(const Problem& problem, const AlgorithmSpec& forced, const std::string& text,
                               const std::string& machine) {
  const std::vector<Way> ways = ways_to_run(*context_, problem, operands_, workspace_limit_, forced);
  WisdomEntry entry;
  try {
    const Measured measured = measure(context_, problem, workspace_limit_, ways);
    entry = {text, machine, measured.algorithm, measured.seconds, measured.estimated_seconds};
    if (verbose_ >= 1) print_verbose("measured " + measured.text() + " of " + problem_.text);
  } catch (const Error& error) {
    if (error.status() == TESSERA_INVALID_ARGUMENT)  // a stream that is being captured
      throw Error(error.status(), std::string("effort = measure: ") + error.what());
    if (error.status() != TESSERA_OUT_OF_MEMORY && error.status() != TESSERA_INTERNAL) throw;
    if (verbose_ >= 1) print_verbose(std::string("not measured, but estimated: ") + error.what());
    return false;
  }
  create(parse_algorithm(entry.algorithm, "measured", true));
  chosen_ = "measured";
  Wisdom::instance().add(entry);
  const std::string file = environment_wisdom();
  if (file.empty()) return true;
  try {
    merge_into_wisdom_file(file, {&entry, 1});
  } catch (const Error& error) {  // the plan is as good without
    if (verbose_ >= 1) print_verbose(std::string("wisdom is not kept: ") + error.what());
  }
  return true;
}

}  // namespace tessera::core
