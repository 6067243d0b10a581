// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Injections and recordings of a system, entry by entry.
#pragma once

#include <tessera/plugin/system_points.hpp>
#include <tessera/plugin/system_problem.hpp>

#include <cmath>
#include <cstdint>

namespace tessera::cpu {

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

/// The sum of weight * field[p] over the entries of a series, in the list's order, each by a fused multiply-add.
template <class T>
T recorded(const plugin::SystemProblem& problem, int which, const plugin::PointLists& lists, std::int64_t series,
           const void* level) {
  const plugin::SystemProblem::Field& field = problem.fields[std::size_t(which)];
  return plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
    T sum = T(0);
    for (std::int64_t e = lists.first[std::size_t(series)]; e < lists.first[std::size_t(series) + 1]; ++e) {
      const auto& [p, weight, i] = lists.entries[std::size_t(e)];
      const std::int64_t at = p[0] * field.strides[0] + p[1] * field.strides[1] + p[2] * field.strides[2];
      sum = std::fma(T(weight), T(plugin::Scalar<S>(static_cast<const S*>(level)[at])), sum);
    }
    return sum;
  });
}

}  // namespace tessera::cpu
