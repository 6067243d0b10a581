// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Measured offers, as tessera-perf-offers writes them.
#pragma once

#include "problem.hpp"

#include <nlohmann/json.hpp>

#include <istream>
#include <string>
#include <vector>

namespace tessera::perf {

/// An offer: "multistage:tile_m=128,split=2", and the seconds that it took.
struct MeasuredOffer {
  std::string algorithm;
  double seconds;
};

struct MeasuredProblem {
  Problem problem;
  std::vector<MeasuredOffer> offers;
};

/// What a run found: the machine, then problem by problem.
struct MeasuredRun {
  nlohmann::ordered_json machine;
  std::vector<MeasuredProblem> problems;
};

/// Throws std::runtime_error with the line that it cannot read.
MeasuredRun read_measured(std::istream& lines);
nlohmann::ordered_json describe(const Problem& problem);

}  // namespace tessera::perf
