// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Problems that nobody picked: sizes, transposes, batches, taps and steps at random.
#pragma once

#include "cases.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace tessera::perf {

/// How large the drawn problems may be.
struct Bounds {
  double flops = 1e12;  ///< of an execution
  double bytes = 1e9;   ///< of all operands
};

/// A product: m, n and k log-uniform between 1 and 16384, half of them rounded to multiples of 16; all four transposes
/// alike; one matrix three times in four, else a batch of up to 1024. With a bias for each column and an activation
/// where one is given.
Problem draw_gemm(std::mt19937_64& random, const Kind& kind, const Bounds& bounds,
                  std::optional<tessera_activation> activation = std::nullopt);

/// The groups random-aligned and random-odd: `count` products of each of bf16, f16, f32 and f64, the same for the same
/// seed, whatever else is drawn. m, n and k are log-uniform between 16 and 10000, at most 2^40 flops; four transposes,
/// a quarter with padded rows, half with beta 1, a fifth with a bias. Aligned: every row is a multiple of 16 bytes, to
/// which lengths are rounded up; odd: some row is not.
std::vector<Case> random_cases(bool aligned, std::uint64_t seed, std::int64_t count);

/// A stencil: one of the suite's shapes of taps; 2^10 to 2^28 points, log-uniform, in extents of random proportions;
/// fixed or periodic; a single step as often as 2 to 256.
Problem draw_stencil(std::mt19937_64& random, const Kind& kind, const Bounds& bounds);

}  // namespace tessera::perf
