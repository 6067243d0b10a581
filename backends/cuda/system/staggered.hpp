// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stages of staggered systems, as Maxwell's equations and elastic waves have them: fields made in place, each from
/// itself at the point and one-dimensional differences of others.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::cuda {

/// What a launch holds at most.
inline constexpr int kMostStageMade = 6, kMostStageGroups = 12, kMostStageFactors = 4, kMostStageDifferences = 12;
inline constexpr int kMostStageList = 24, kMostStageRadius = 2;

/// A stage in the terms of StageStep (staggered.cuh).
struct StaggeredStage {
  struct Difference {
    int field, level;
    int axis;   ///< 3: none, the value at the point itself
    int first;  ///< offset of the first tap
    std::array<double, 2 * kMostStageRadius> taps;
    bool operator==(const Difference&) const = default;
  };
  struct Group {
    double scale;
    int factor;  ///< -1: none
    std::vector<int> differences;
  };
  struct Made {
    int field;
    double own;
    std::array<int, 3> low, high;  ///< the points that move
    std::vector<Group> groups;
  };
  struct Factor {
    int field;
    bool reciprocal;
    bool operator==(const Factor&) const = default;
  };
  int stage, radius;
  std::vector<Made> made;
  std::vector<Factor> factors;
  std::vector<Difference> differences;
};

/// The stages of a system that make something; empty with the reason where one is of another kind.
std::vector<StaggeredStage> staggered_of(const plugin::SystemProblem& problem, std::string& why_not);

}  // namespace tessera::cuda
