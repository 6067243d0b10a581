// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a product is cut into the units of work that threads take.
#pragma once

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// Units of one product: tiles of C, and slices of k whose partial results are added in order.
struct Grid {
  std::int64_t tile_m, tile_n, slice_k;  ///< elements; the last of each may be smaller
  std::int64_t rows, columns, slices;    ///< how many

  std::int64_t units() const { return rows * columns * slices; }
};

/// What tiles are multiples of, and how many slices k may have.
struct GridLimits {
  std::int64_t align_m, align_n, most_slices;
};

/// The cut into at most `parts` units whose largest costs least.
Grid choose_grid(const plugin::GemmProblem& problem, std::int64_t parts, const GridLimits& limits);

/// Units per product that share a batch evenly among the threads. A long batch needs one.
std::int64_t parts_per_product(std::int64_t batch, int threads);

}  // namespace tessera::cpu
