// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How far away in memory a tap reads.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstdint>

namespace tessera::cpu {

/// Elements from a point to one that lies `by` indices from it. Where that is no number of 64 bits the taps leave the
/// domain, and nothing is read there: a distance beyond any array stands for it.
template <class Strides>
std::int64_t distance(const plugin::Index3& by, const Strides& strides) {
  constexpr std::int64_t kBeyondAny = std::int64_t(1) << 62;
  std::int64_t total = 0;
  for (std::size_t axis = 0; axis < by.size(); ++axis) {
    std::int64_t part = 0;
    if (__builtin_mul_overflow(by[axis], strides[axis], &part) || __builtin_add_overflow(total, part, &total))
      return kBeyondAny;
  }
  return std::clamp(total, -kBeyondAny, kBeyondAny);
}

}  // namespace tessera::cpu
