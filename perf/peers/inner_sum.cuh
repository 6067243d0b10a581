// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "taps.hpp"

#include <utility>

namespace tessera::perf {

/// What taps that are compiled in make of a point whose neighbours are all inside.
template <class T, Pattern kPattern, int kRank, int kRadius, std::size_t... kTap>
__device__ T inner_sum(const T* own, std::ptrdiff_t row, std::ptrdiff_t plane, std::index_sequence<kTap...>) {
  constexpr auto taps = constant_taps<kPattern, kRank, kRadius>();
  T sum = 0;
  ((sum += T(std::get<kTap>(taps).coefficient) *
           own[std::get<kTap>(taps).z * plane + std::get<kTap>(taps).y * row + std::get<kTap>(taps).x]),
   ...);
  return sum;
}

}  // namespace tessera::perf
