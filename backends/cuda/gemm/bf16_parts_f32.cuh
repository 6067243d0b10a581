// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Elements as sums of bf16, which the tensor cores multiply exactly.
#pragma once

#include "../convert.cuh"
#include "bf16_parts.hpp"

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// The parts of A and B of a product of parts. Products are added in an order in which the largest comes last: what is
/// cut off its sums is small beside it, and what is cut off the others' is smaller.
struct PartPair {
  int a, b;
};

/// x is the sum of bf16, exactly unless its last bits are below 2^-133: of three where it is an f32, of two where it
/// is an f16, of itself. Each is the one nearest to what those before leave of x. The first of a finite x is finite.
template <class ElementValue>
struct Bf16Parts {
  using Element = ElementValue;
  static constexpr int kWidth = 8;
  static constexpr int kParts = kBf16Parts<Element>;

  /// The parts of two elements.
  static __device__ __forceinline__ void split(float low, float high, std::uint32_t (&words)[kParts]) {
    // f32 above the largest bf16 become that one, and so do infinities: the next part is infinite then.
    if constexpr (kParts == 3)
      asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(words[0]) : "f"(high), "f"(low));
    else
      words[0] = detail::word_of(bfloat16{}, low, high);
#pragma unroll
    for (int part = 1; part < kParts; ++part) {
      low -= detail::lower(bfloat16{}, words[part - 1]), high -= detail::upper(bfloat16{}, words[part - 1]);
      words[part] = detail::word_of(bfloat16{}, low, high);
    }
  }
  static __device__ __forceinline__ void split(const float (&x)[kWidth], std::int32_t, uint4 (&parts)[kParts]) {
    std::uint32_t words[kWidth / 2][kParts];
#pragma unroll
    for (int pair = 0; pair < kWidth / 2; ++pair) split(x[2 * pair], x[2 * pair + 1], words[pair]);
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      parts[part] = {words[0][part], words[1][part], words[2][part], words[3][part]};
  }
};

/// Products of the parts of elements of types A and B; of two f32 bf16x6. Left out are those of a third part with a
/// second or a third one.
template <class A, class B>
struct Bf16Products {
  using Part = bfloat16;
  using OfA = Bf16Parts<A>;
  using OfB = Bf16Parts<B>;
  static constexpr int kCompute = TESSERA_COMPUTE_BF16X6, kWidth = OfA::kWidth;
  static constexpr bool kScales = false;

  /// Those that there are, behind them their number.
  static __device__ constexpr PartPair product(int i) {
    constexpr PartPair kPairs[] = {{0, 2}, {2, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 0}};
    int count = 0;
    for (const PartPair& pair : kPairs)
      if (pair.a < OfA::kParts && pair.b < OfB::kParts && count++ == i) return pair;
    return {count, count};
  }
  static constexpr int kProducts = product(-1).a;
  static_assert(kProducts == bf16_products(OfA::kParts, OfB::kParts));
};
using Bf16x6 = Bf16Products<float, float>;
/// f32 by elements of 16 bits, and the other way round.
template <class Narrow>
using WideByNarrow = Bf16Products<float, Narrow>;
template <class Narrow>
using NarrowByWide = Bf16Products<Narrow, float>;

}  // namespace tessera::cuda
