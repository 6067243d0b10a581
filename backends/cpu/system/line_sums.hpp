// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Sums of lines of values: the innermost loops of systems. Each point's sum is made in the order of the terms.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::cpu {

/// A coefficient and the values that it belongs to.
template <class T>
struct ScaledLine {
  T coefficient;
  const T* values;
};

/// Most of them that one loop adds up: as many streams as processors prefetch, and registers for coefficients.
inline constexpr std::size_t kMostLines = 9;

/// sum[k] = (`onto` ? sum[k] : 0) + lines[0].coefficient * lines[0].values[k] + ...
template <class T, std::size_t N, bool onto>
void add_n(T* __restrict sum, const ScaledLine<T>* lines, std::int64_t begin, std::int64_t end) {
  std::array<ScaledLine<T>, N> own;
  for (std::size_t t = 0; t < N; ++t) own[t] = lines[t];
  for (std::int64_t k = begin; k < end; ++k) {
    T s = onto ? sum[k] : T(0);
    for (std::size_t t = 0; t < N; ++t) s += own[t].coefficient * own[t].values[k];
    sum[k] = s;
  }
}

template <class T>
void add_lines(T* sum, bool onto, const ScaledLine<T>* lines, std::size_t count, std::int64_t begin, std::int64_t end) {
  using Loop = void (*)(T*, const ScaledLine<T>*, std::int64_t, std::int64_t);
  static constexpr auto loops = []<std::size_t... N>(std::index_sequence<N...>) {
    return std::array<std::array<Loop, kMostLines>, 2>{{{add_n<T, N + 1, false>...}, {add_n<T, N + 1, true>...}}};
  }
  (std::make_index_sequence<kMostLines>());
  loops[onto ? 1 : 0][count - 1](sum, lines, begin, end);
}

/// The same for one product of N values a point.
template <class T, std::size_t N>
void add_product(T* __restrict sum, bool onto, T coefficient, const std::array<const T*, TESSERA_MAX_FACTORS>& values,
                 std::int64_t begin, std::int64_t end) {
  for (std::int64_t k = begin; k < end; ++k) {
    T product = coefficient;
    for (std::size_t f = 0; f < N; ++f) product *= values[f][k];
    sum[k] = (onto ? sum[k] : T(0)) + product;
  }
}

/// sum[k] = (`onto` ? sum[k] : 0) + scale * terms[k] * values[0][k] * ..., of N values.
template <class T, std::size_t N>
void add_group(T* __restrict sum, bool onto, const T* __restrict terms, T scale,
               const std::array<const T*, TESSERA_MAX_GROUP_FACTORS>& values, std::int64_t begin, std::int64_t end) {
  for (std::int64_t k = begin; k < end; ++k) {
    T product = scale * terms[k];
    for (std::size_t f = 0; f < N; ++f) product *= values[f][k];
    sum[k] = (onto ? sum[k] : T(0)) + product;
  }
}

/// Calls body(std::integral_constant<std::size_t, n>) for an n up to Most.
template <std::size_t Most, class Body>
void with_count(std::size_t n, Body&& body) {
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    ((n == N ? (body(std::integral_constant<std::size_t, N>()), 0) : 0), ...);
  }
  (std::make_index_sequence<Most + 1>());
}

}  // namespace tessera::cpu
