// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Problems that nobody picked: sizes, transposes, batches, taps and steps at random.
#pragma once

#include "problem.hpp"

#include <cstdint>
#include <optional>
#include <random>

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

/// A stencil: one of the suite's shapes of taps; 2^10 to 2^28 points, log-uniform, in extents of random proportions;
/// fixed or periodic; a single step as often as 2 to 256.
Problem draw_stencil(std::mt19937_64& random, const Kind& kind, const Bounds& bounds);

}  // namespace tessera::perf
