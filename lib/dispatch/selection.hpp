// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which backend runs a problem: a pure function of what there is and what was asked for.
#pragma once

#include "dispatch/environment.hpp"

#include <span>
#include <string>
#include <vector>

namespace tessera::core {

/// What selection knows of a backend.
struct Candidate {
  std::string name;
  std::string variant;
  std::string reason;  ///< why it cannot be used here; "" when it can
  int device_count = 0;
  double score = 0.0;                   ///< predicted executions a second on the device in question; 0: cannot
  std::vector<std::string> algorithms;  ///< for the operation; empty when only a context is made
  std::string algorithm_reason;   ///< why the forced algorithm cannot run the problem; "" when it can or none is forced
  std::string score_reason = {};  ///< why there is no score; "" where the plugin made an offer
  std::vector<std::string> devices = {};  ///< their names, as far as they are known
};

struct Request {
  BackendSpec backend;
  AlgorithmSpec algorithm;
};

struct Choice {
  std::size_t candidate;
  int device;
  double seconds = 0.0;  ///< predicted, of an execution
};

/// True when the forced algorithm, if any, concerns plans of that backend.
bool concerns(const AlgorithmSpec& algorithm, const std::string& name, const std::string& variant);
/// True when the forced algorithm, if any, decides which backends are ranked, and by what.
bool narrows(const AlgorithmSpec& algorithm);

/// The candidates that the request allows, the one of the best score first. A forced algorithm without a backend leaves
/// those that can run it; with a backend in code, that backend; with one in the environment, all, and where that
/// backend wins it must be able to. An explicit choice never falls back: throws plugin::Error (backend_unavailable,
/// unsupported or invalid_argument) with a list of what there is and why the rest is not, so that there is at least
/// one. `search` says where plugins were looked for, for the message where there is none of that name.
std::vector<Choice> rank(std::span<const Candidate> candidates, const Request& request, const std::string& search = "");
/// The best of them; the first of equals.
Choice choose(std::span<const Candidate> candidates, const Request& request, const std::string& search = "");

/// Throws the error of a forced algorithm that none of the backends in question can run.
[[noreturn]] void refuse_algorithm(std::span<const Candidate> candidates, const Request& request);

}  // namespace tessera::core
