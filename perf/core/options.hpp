// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cases.hpp"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace tessera::perf {

struct Options {
  std::vector<Case> asked;                               ///< --gemm and --stencil
  std::vector<std::string> backends, algorithms, cases;  ///< patterns; empty: all
  std::vector<std::string> dtypes;                       ///< names of kinds that cases run in; empty: all
  std::string json, first_use;
  bool quick = false, list = false, peers = true;
  std::int64_t repetitions = 0, passes = 0;
  double budget = 0.0;
  int threads = 0;
  std::uint64_t seed = 0;    ///< of the random groups
  std::int64_t count = 100;  ///< of their problems, of each type
};

/// A wrong command line: exit code 2.
struct UsageError {
  std::string message;
};

/// Runs a program's body. Where it throws, says the reason and returns the exit code: 2 for a UsageError, else 1.
template <class Body>
int run_program(const char* name, Body&& body) {
  std::string reason;
  int code = 1;
  try {
    return body();
  } catch (const UsageError& error) {
    reason = error.message, code = 2;
  } catch (const std::exception& error) {
    reason = error.what();
  }
  std::fprintf(stderr, "%s: %s\n", name, reason.c_str());
  return code;
}

/// The suite forces one algorithm after the other. Where it forces none, the library itself must choose.
void forget_forced_algorithms();

/// Returns the exit code where the program is done (--help), else -1.
int parse(int argc, char** argv, Options& options);

/// A pattern with * or ? must match the whole text; one without, a part of it.
bool matches(const std::string& pattern, const std::string& text);
bool matches_any(const std::vector<std::string>& patterns, const std::string& text);
/// Whether a pattern of --case has the word in it, which begins the names of a group: one that runs for that alone.
bool is_named(const Options& options, const std::string& word);

}  // namespace tessera::perf
