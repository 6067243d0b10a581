// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The dot product of pairs of bf16 (AVX512-BF16), and when it gives the bits that fused multiply-adds give.
#pragma once

#include <cstdint>

namespace tessera::cpu {

/// Whether the backend is built with kernels for it.
#if defined(__x86_64__) && defined(__AVX512BW__)
inline constexpr bool kHasDotProducts = true;
#else
inline constexpr bool kHasDotProducts = false;
#endif

/// Two elements of bf16 that follow one another along k, the first one in the lower half: what a lane of a dot product
/// takes of an operand.
using Pair = std::uint32_t;

/// The biased exponent of bf16 with these bits, less their sign; 0 for subnormal numbers.
constexpr int biased_exponent(std::uint32_t magnitude) { return int(magnitude >> 7); }

/// Whether dot products of two blocks lose nothing, where `a` and `b` are the least biased exponents of their elements
/// that are not zero.
///
/// An instruction adds two products to a sum, with one rounding each, as multiply-adds do. But it takes subnormal
/// numbers, also the sum, for zeros, and gives zeros for them. So no element may be subnormal, and no sum. Elements
/// are multiples of 2^(a - 134) and 2^(b - 134), bf16 having 8 significant bits, so products are multiples of
/// 2^(a + b - 268). So are their sums that begin with zero, rounded ones as well, and where that is 2^-126 at least,
/// none of them is subnormal.
constexpr bool dot_is_exact(int a, int b) { return a > 0 && b > 0 && a + b >= 268 - 126; }

}  // namespace tessera::cpu
