// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// A run on a backend that damages memory: the program names the plan and ends at once.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Outcome conformance(const std::string& damage) {
  return run({TESSERA_CONFORMANCE, "every algorithm multiplies matrices*"},
             {{"TESSERA_TEST_BACKEND", "fake"},
              {"TESSERA_TEST_SHORT", "40"},
              {"TESSERA_BACKEND_PATH", TESSERA_TEST_PLUGINS},
              {"TESSERA_FAKE_DAMAGE", damage}});
}

/// Only the first algorithm was run, and nothing was summed up.
void check_stopped(const Outcome& outcome, const std::string& damage) {
  CAPTURE(outcome.output, outcome.errors);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.errors, ContainsSubstring("STOPPED: case ") && ContainsSubstring("fake/plain") &&
                                 ContainsSubstring("TESSERA_TEST_SEED=") && ContainsSubstring(damage));
  CHECK_THAT(outcome.output, !ContainsSubstring("runs, "));
  CHECK_THAT(outcome.output, !ContainsSubstring("test cases:"));
}

}  // namespace

TEST_CASE("without damage the run ends well") {
  const Outcome outcome = conformance("");
  CAPTURE(outcome.output, outcome.errors);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, ContainsSubstring("0 failed"));
}

TEST_CASE("an algorithm that writes beside its output stops the run") {
  check_stopped(conformance("beside"), "memory around C or D was written");
}

TEST_CASE("an algorithm that ends the process by a signal stops the run") {
  check_stopped(conformance("nowhere"), "ended by signal 11");
}
