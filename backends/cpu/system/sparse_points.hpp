// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Injections and recordings of a system, entry by entry.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// Entries in the list's order for each series, for recordings.
inline std::vector<std::vector<plugin::SystemProblem::Points::Entry>> by_series(
    const plugin::SystemProblem::Points& points) {
  std::vector<std::vector<plugin::SystemProblem::Points::Entry>> lists(std::size_t(points.series_count));
  for (const auto& entry : points.entries) lists[std::size_t(entry.series)].push_back(entry);
  return lists;
}

/// field[p] += weight * series[i], in the list's order.
template <class T>
void inject(const plugin::SystemProblem& problem, const plugin::SystemProblem::Points& points, const T* series,
            void* level) {
  const plugin::SystemProblem::Field& field = problem.fields[std::size_t(points.field)];
  plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
    for (const auto& [p, weight, i] : points.entries) {
      S& value = static_cast<S*>(level)[p[0] * field.strides[0] + p[1] * field.strides[1] + p[2] * field.strides[2]];
      value = S(plugin::Scalar<S>(T(plugin::Scalar<S>(value)) + T(weight) * series[i]));
    }
  });
}

/// The sum of weight * field[p] over a series' entries, in the list's order.
template <class T>
T recorded(const plugin::SystemProblem& problem, int which,
           const std::vector<plugin::SystemProblem::Points::Entry>& entries, const void* level) {
  const plugin::SystemProblem::Field& field = problem.fields[std::size_t(which)];
  return plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
    T sum = T(0);
    for (const auto& [p, weight, i] : entries)
      sum += T(weight) * T(plugin::Scalar<S>(static_cast<const S*>(
                             level)[p[0] * field.strides[0] + p[1] * field.strides[1] + p[2] * field.strides[2]]));
    return sum;
  });
}

}  // namespace tessera::cpu
