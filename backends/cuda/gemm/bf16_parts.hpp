// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How many bf16 elements are sums of, and how many of their products are computed.
#pragma once

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// How many bf16 an element is the sum of.
template <class T>
inline constexpr int kBf16Parts = 3;
template <>
inline constexpr int kBf16Parts<float16> = 2;
template <>
inline constexpr int kBf16Parts<bfloat16> = 1;

inline int bf16_parts(tessera_dtype dtype) {
  return plugin::with_types(dtype, []<class T>(std::type_identity<T>) { return kBf16Parts<T>; });
}

/// Slices of ordered sums of products of parts are multiples of so many of k, which are whole steps of all tiles, and
/// no more than so many.
inline constexpr std::int64_t kOrderedPartsUnit = 64, kOrderedPartsMost = 32;
/// Of k, in each of them, whatever rows there are: few rows need slices to fill a device, the more so where there are
/// few columns; many add them up one after another.
inline std::int64_t ordered_parts_slice(const plugin::GemmProblem& p) {
  constexpr std::int64_t kManyColumns = 2048, kFewest = 8;
  const std::int64_t wanted =
      std::clamp(kFewest * kManyColumns / std::max<std::int64_t>(p.fixed_extent(), 1), kFewest, kOrderedPartsMost);
  return plugin::round_up(std::max(plugin::ceil_div(p.k, wanted), kOrderedPartsUnit), kOrderedPartsUnit);
}
/// How many there are, at least one.
inline std::int64_t ordered_parts_slices(const plugin::GemmProblem& p) {
  return std::max<std::int64_t>(plugin::ceil_div(p.k, ordered_parts_slice(p)), 1);
}

/// Of so many parts of A and of B: but for those of a third part with a second or a third one.
constexpr int bf16_products(int parts_a, int parts_b) {
  int count = 0;
  for (int a = 0; a < parts_a; ++a)
    for (int b = 0; b < parts_b; ++b) count += a + b <= 2;
  return count;
}

}  // namespace tessera::cuda
