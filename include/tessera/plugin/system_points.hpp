// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Entries of recordings in the order in which they are summed.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::plugin {

/// Lists of entries, one behind the other: list l is [first[l], first[l + 1]).
struct PointLists {
  std::vector<SystemProblem::Points::Entry> entries;
  std::vector<std::int64_t> first;
};

/// A list for each series, in the caller's order.
inline PointLists lists_of_series(const SystemProblem::Points& points) {
  PointLists lists{points.entries, std::vector<std::int64_t>(std::size_t(points.series_count) + 1, 0)};
  for (const auto& entry : points.entries) ++lists.first[std::size_t(entry.series) + 1];
  for (std::size_t i = 1; i < lists.first.size(); ++i) lists.first[i] += lists.first[i - 1];
  std::vector<std::int64_t> next = lists.first;
  for (const auto& entry : points.entries) lists.entries[std::size_t(next[std::size_t(entry.series)]++)] = entry;
  return lists;
}

}  // namespace tessera::plugin
