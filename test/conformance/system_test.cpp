// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Systems of fields on every algorithm of the backend, against the interpreter.

#include "subject.hpp"
#include "system_trial.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>

namespace tessera::test {

namespace {

/// Those that this run asks for: all, or each n-th of the essential ones.
std::vector<SystemCase> selected_cases() {
  const std::size_t every = short_list();
  std::vector<SystemCase> cases = system_cases();
  if (every != 0) {
    std::size_t index = 0;
    std::erase_if(cases, [&](const SystemCase& c) { return !c.essential || index++ % every != 0; });
  }
  cases.resize(draw_sample(cases), SystemCase{"", StencilSystem({1}), 0});
  return cases;
}

void run_one(Subject& subject, SystemTrial& trial, const std::string& algorithm, const PlanOptions& options,
             Tally& tally) {
  std::string problem, printed;
  try {
    SystemPlan plan(subject.context(), trial.system(), trial.steps(), options);
    if (!algorithm.empty()) subject.check_forced(plan, algorithm);
    printed = plan.algorithm();
    SystemPlan clone = plan.clone();
    problem = trial.run(subject.context(), options.operands == Memory::host ? plan : clone, options.operands);
    if (problem.empty() && options.operands == Memory::host) {
      SystemPlan one(subject.context(), trial.system(), 1, options);
      problem = trial.run_step_by_step(plan, one);
    }
    ++tally.run;
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.code() == ErrorCode::unsupported && printed.empty()) {
      ++tally.refused[message.substr(0, 160)];
      return;
    }
    problem = "threw: " + message;
  }
  if (problem.empty()) return;
  ++tally.failed;
  FAIL_CHECK("algorithm " << (printed.empty() ? algorithm : printed) << ": " << problem
                          << "; repeat with TESSERA_TEST_SEED=" << seed());
}

}  // namespace

TEST_CASE("systems of fields", "[system]") {
  Subject subject;
  const std::vector<std::string> names = subject.tested(TESSERA_OP_SYSTEM);
  if (names.empty() && subject.is_complete() && subject.algorithms(TESSERA_OP_SYSTEM).empty())
    FAIL(subject.spec() << " has no algorithm for systems");
  if (names.empty()) SKIP(subject.spec() << " has no algorithm for systems, or another one is asked for");
  std::vector<Tally> tallies(names.size());
  for (const SystemCase& c : selected_cases()) {
    CAPTURE(c.name);
    SystemTrial trial(c);
    for (const Memory memory : {Memory::host, Memory::device}) {
      for (std::size_t i = 0; i < names.size(); ++i)
        if (tallies[i].failed < 5)
          run_one(subject, trial, names[i], {.operands = memory, .algorithm = names[i]}, tallies[i]);
    }
    if (subject.is_complete()) CHECK_NOTHROW(SystemPlan(subject.context(), trial.system(), trial.steps()));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    report(subject.spec() + "/" + names[i] + " of systems", tallies[i], names[i] != names.back());
}

}  // namespace tessera::test
