// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one place that reads environment variables, and the parsers of what they hold.
#pragma once

#include <tessera/tessera.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::core {

/// A backend, or "auto" (empty name), with an optional device. `source` is where the choice came from, for messages:
/// "TESSERA_BACKEND" or "backend".
struct BackendSpec {
  std::string source;
  std::string name;
  int device = -1;  ///< -1: not given
};

/// A forced algorithm, or none (empty name).
struct AlgorithmSpec {
  std::string source;
  bool from_code = false;
  std::string backend;  ///< "": whichever backend runs the plan
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> parameters;
};

/// "name", "name:device", "auto" or "". Throws plugin::Error(invalid_argument).
BackendSpec parse_backend(std::string_view text, std::string_view source);
/// "[backend/]name[:key=value,...]" or "".
AlgorithmSpec parse_algorithm(std::string_view text, std::string_view source, bool from_code);
/// "strict", "bf16x6", "f16x3", "tf32"; "" is strict.
tessera_compute parse_compute(std::string_view text, std::string_view source);
/// "estimate", "measure"; "" is estimate.
tessera_effort parse_effort(std::string_view text, std::string_view source);
/// An absolute path: what a program reads does not depend on where it was started. "" is none.
std::string parse_wisdom(std::string_view text, std::string_view source);
/// A whole number in [low, high]; "" gives `absent`.
int parse_number(std::string_view text, std::string_view source, int low, int high, int absent);
/// The non-empty entries of a ':'-separated list.
std::vector<std::string> parse_path(std::string_view text);

/// What the variables held at their first use, or at the last reload. Safe from any thread.
BackendSpec environment_backend();
AlgorithmSpec environment_algorithm(std::int32_t op);
tessera_compute environment_compute();
int environment_threads();
int environment_verbose();
tessera_effort environment_effort();
int environment_sm_limit();
/// The file of measured choices; "": none. Read through secure_getenv: a set-uid program reads and writes none.
std::string environment_wisdom();
/// What OMP_NUM_THREADS held: where TESSERA_NUM_THREADS says nothing, it may be the number of threads.
std::string environment_omp_threads();
/// Read through secure_getenv: a set-uid program does not load plugins from anywhere.
std::vector<std::string> environment_backend_path();
/// Reads them anew. No other thread may change the environment meanwhile.
void reload_environment();

}  // namespace tessera::core
