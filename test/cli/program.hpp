// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Runs the command line program.
#pragma once

#include "process.hpp"
#include "required.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

using Environment = std::map<std::string, std::optional<std::string>>;

/// With the environment's choice of a backend, but none of algorithms, and no further lines on stderr.
inline Outcome tessera_run(std::vector<std::string> arguments, Environment environment = {}) {
  arguments.insert(arguments.begin(), TESSERA_PROGRAM);
  for (const char* name : {"TESSERA_VERBOSE", "TESSERA_GEMM_ALGORITHM", "TESSERA_STENCIL_ALGORITHM",
                           "TESSERA_SYSTEM_ALGORITHM", "TESSERA_GEMM_COMPUTE"})
    environment.try_emplace(name, std::nullopt);
  return run(arguments, environment);
}

inline nlohmann::json backends() {
  const Outcome outcome = tessera_run({"info", "--json"});
  REQUIRE((outcome.exit_code == 0 || outcome.exit_code == 1));  // 1: none is usable
  return nlohmann::json::parse(outcome.output).at("backends");
}

/// Skips the test where nothing can compute, unless TESSERA_REQUIRE_BACKENDS says that something must.
inline void need_backend() {
  for (const auto& backend : backends())
    if (backend.at("available").get<bool>()) return;
  if (!required_backends().empty()) FAIL("no backend is usable, but TESSERA_REQUIRE_BACKENDS names some");
  SKIP("no backend is usable");
}

}  // namespace tessera::test
