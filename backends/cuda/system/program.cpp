// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "program.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera::cuda {
namespace {

using plugin::SystemProblem;

/// Fields that a stage makes, in the order of its updates.
std::vector<int> made_in(const SystemProblem& problem, int stage) {
  std::vector<int> made;
  for (const SystemProblem::Update& update : problem.updates)
    if (update.stage == stage && std::find(made.begin(), made.end(), update.field) == made.end())
      made.push_back(update.field);
  return made;
}

/// Groups of fields of which each reads what another one of the group overwrites.
std::vector<std::vector<int>> entangled(const SystemProblem& problem, int stage) {
  std::vector<std::vector<int>> groups;
  for (const int field : made_in(problem, stage)) groups.push_back({field});
  const auto group_of = [&](int field) {
    return std::find_if(groups.begin(), groups.end(), [field](const std::vector<int>& group) {
      return std::find(group.begin(), group.end(), field) != group.end();
    });
  };
  for (const SystemProblem::Update& update : problem.updates) {
    if (update.stage != stage) continue;
    for_each_factor(update, [&](const SystemProblem::Factor& f) {
      const SystemProblem::Field& read = problem.fields[std::size_t(f.field)];
      if (!read.state() || read.apart || f.level != 1 - read.levels) return;
      const auto mine = group_of(update.field), other = group_of(f.field);
      if (other == groups.end() || mine == other) return;
      mine->insert(mine->end(), other->begin(), other->end());
      groups.erase(other);
    });
  }
  return groups;
}

}  // namespace

std::vector<std::vector<int>> launches_of(const SystemProblem& problem, int stage) {
  std::vector<std::vector<int>> launches;
  for (const std::vector<int>& group : entangled(problem, stage)) {
    if (launches.empty() || launches.back().size() + group.size() > std::size_t(kMostMade)) launches.emplace_back();
    launches.back().insert(launches.back().end(), group.begin(), group.end());
  }
  return launches;
}

std::string why_no_launches(const SystemProblem& problem) {
  for (const int stage : problem.stages)
    for (const std::vector<int>& fields : launches_of(problem, stage))
      if (fields.size() > std::size_t(kMostMade))
        return "stage " + std::to_string(stage) + " overwrites " + std::to_string(fields.size()) +
               " states that read each other's oldest levels; " + std::to_string(kMostMade) +
               " is the most: let the next level of one go apart";
  return {};
}

std::vector<FieldPlace> places_of(const SystemProblem& problem) {
  std::vector<FieldPlace> places;
  for (const SystemProblem::Field& field : problem.fields) {
    FieldPlace place{};
    place.dtype = field.dtype;
    for (std::size_t a = 0; a < 3; ++a) {
      place.strides[a] = field.strides[a] * element_bytes(field);
      for (std::size_t side = 0; side < 2; ++side) {
        place.mode[a][side] = field.mode[a][side];
        place.value[a][side] = field.value[a][side];
      }
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace tessera::cuda
