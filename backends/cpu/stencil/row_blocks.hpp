// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which rows a sweep computes together: a block of rows of neighbouring planes shares what it loads.
#pragma once

#include "../caches.hpp"
#include "../instruction_set.hpp"
#include "tap_groups.hpp"

#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// Planes of a block. Two share most of what they read of the planes around, which comes from the second-level cache.
inline constexpr int kBlockPlanes = 2;
/// Rows of each plane in a block that has several.
constexpr int most_block_rows(const InstructionSet& instructions) {
  return 4 * instructions.vector_bytes / int(kLineBytes);
}
inline constexpr int kBlockRows = most_block_rows(kInstructionSet);
/// Cache lines' length of points that each row of a block must have.
inline constexpr std::int64_t kLeastLines = 4;

/// Whether a block of `rows` rows reads row (i0, i1), so many points along, for the taps of a pattern around (0, 0).
constexpr bool reads_row(Pattern pattern, int rows, int i0, int i1, std::int64_t along) {
  for (int p = 0; p < kBlockPlanes; ++p)
    for (int r = 0; r < rows; ++r)
      if (has_tap(pattern, i0 - p, i1 - r, along)) return true;
  return false;
}

/// Vectors that a block of so many rows of each plane loads, for each vector of results.
double loads_per_result(const std::vector<TapGroup>& groups, int rows);

/// Rows of each plane in the blocks for these taps: most_block_rows() where that loads much less for each result than
/// one, else 1.
int block_rows(const InstructionSet& instructions, const std::vector<TapGroup>& groups);

}  // namespace tessera::cpu
