// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The perf suite as a program that tests run.
#pragma once

#include "process.hpp"
#include "required.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace tessera::test {

inline Outcome run_perf(std::vector<std::string> arguments, const char* program = TESSERA_PERF_PROGRAM) {
  arguments.insert(arguments.begin(), program);
  return run(arguments, {{"TESSERA_BACKEND_PATH", TESSERA_TEST_PLUGINS},
                         {"TESSERA_BACKEND", std::nullopt},
                         {"TESSERA_GEMM_ALGORITHM", "reference"}});  // which the suite must not heed
}

/// What a run printed, and the JSON that it wrote.
struct Measured {
  Outcome outcome;
  nlohmann::json result;
};

/// Runs it with that exit code and --json.
inline Measured measured(std::vector<std::string> arguments, int exit_code = 0,
                         const char* program = TESSERA_PERF_PROGRAM) {
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "run.json";
  arguments.insert(arguments.end(), {"--json", file});
  const Outcome outcome = run_perf(arguments, program);
  INFO(outcome.errors);
  REQUIRE(outcome.exit_code == exit_code);
  return {outcome, nlohmann::json::parse(std::ifstream(file))};
}

inline void need(const std::string& backend) {
  if (run_perf({"--backend", backend, "--list"}).exit_code == 0) return;
  if (is_required(backend)) FAIL("the " << backend << " backend is missing");
  SKIP("the " << backend << " backend is not usable");
}

/// The rows of the plugins that are only there for tests would not end.
inline void need_cpu() { need("cpu"); }

}  // namespace tessera::test
