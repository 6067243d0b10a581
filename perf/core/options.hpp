// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cases.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::perf {

struct Options {
  std::vector<Case> asked;                               ///< --gemm and --stencil
  std::vector<std::string> backends, algorithms, cases;  ///< patterns; empty: all
  std::string json, filter, first_use;
  bool quick = false, list = false, peers = true;
  std::int64_t repetitions = 0, passes = 0;
  double budget = 0.0;
  int threads = 0;
  std::vector<std::string> benchmark_flags;  ///< Google Benchmark's own, passed on
};

/// A wrong command line or filter: exit code 2.
struct UsageError {
  std::string message;
};

/// Returns the exit code where the program is done (--help), else -1.
int parse(int argc, char** argv, Options& options);

/// A pattern with * or ? must match the whole text; one without, a part of it.
bool matches(const std::string& pattern, const std::string& text);
bool matches_any(const std::vector<std::string>& patterns, const std::string& text);

}  // namespace tessera::perf
