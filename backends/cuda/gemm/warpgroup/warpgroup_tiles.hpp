// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tiles of the algorithm warpgroup, as its kernels and its choice know them.
#pragma once

#include <cstddef>

namespace tessera::cuda {

/// What a block computes at a time: 64 rows of the product for each of two warpgroups, or 64 rows in all, and then the
/// two take tiles in turns, so that one writes its tile while the other multiplies. One more warpgroup loads.
struct WarpgroupTile {
  int rows;     ///< 128, or 64 in turns
  int columns;  ///< whole units

  static constexpr int kConsumers = 2, kThreads = 128 * (kConsumers + 1);
  static constexpr int kRowsInTurns = 64, kMostColumns = 256;
  /// Columns of tiles, and of the product instruction in them, are multiples of so many.
  static constexpr int column_unit(std::size_t element_bytes) { return element_bytes == 2 ? 8 : 64; }
  static constexpr int kRowBytes = 128;  ///< what the swizzle spans
  /// k goes by in steps of so many: rows of 128 bytes.
  static constexpr int depth(std::size_t element_bytes) { return kRowBytes / int(element_bytes); }
  /// Where a warp lays out a piece of its part of D, a quarter of the warpgroup's: 64 of its rows and 128 of its
  /// columns of 16 bits.
  static constexpr int kWarpBytes = 4096;
  /// Of shared memory beside the ring: where warps lay out D, the bias of each warpgroup, and the barriers of as many
  /// stages as there may be.
  static constexpr int kMostStages = 24;
  static constexpr int kOtherBytes = kConsumers * (4 * kWarpBytes + 4 * kMostColumns) + 16 * kMostStages;

  /// Steps of k of a stage, which are waited for together: what surrounds products takes as long as those of a step of
  /// narrow tiles, and two at a time are copied in longer runs of memory, unless blocks of a cluster share them. Wide
  /// tiles have too few stages for that, and kernels that read an operand by single elements or by registers do not.
  constexpr int stage_steps(bool shares) const {
    return fewest_steps(columns) > 1 || (most_steps(columns) > 1 && in_turns() && !shares) ? 2 : 1;
  }
  static constexpr int fewest_steps(int columns) { return columns <= 64 ? 2 : 1; }
  static constexpr int most_steps(int columns) { return columns <= 128 ? 2 : 1; }

  constexpr bool in_turns() const { return rows == kRowsInTurns; }
  /// Columns that a stage has room for: an operand that is not K-major is copied in square blocks.
  constexpr int room(bool k_major, std::size_t element_bytes) const {
    const int block = k_major ? 8 : depth(element_bytes);
    return (columns + block - 1) / block * block;
  }
  /// Of 128 bytes that shared memory moves in a step, one a cycle: 64 rows and all columns for each warpgroup's
  /// products, and what copies write.
  constexpr int step_lines(int room_columns) const { return rows / 64 * (64 + columns) + rows + room_columns; }
  /// Of the tiles of A and B of a step.
  constexpr int step_bytes(bool k_major_columns, std::size_t element_bytes) const {
    return kRowBytes * (rows + room(k_major_columns, element_bytes));
  }
  /// Stages of the ring, of so many steps: as many as so much shared memory holds.
  constexpr int stages(bool k_major_columns, std::size_t element_bytes, int shared_bytes, int steps) const {
    const int fit = (shared_bytes - kOtherBytes) / (steps * step_bytes(k_major_columns, element_bytes));
    return fit < kMostStages ? fit : kMostStages;
  }

  bool operator==(const WarpgroupTile&) const = default;
};

/// Blocks of a cluster: so many tiles below and beside one another, which share tiles of A and B; or slices of k of one
/// tile.
struct WarpgroupCluster {
  int m = 1, n = 1, k = 1;

  constexpr int blocks() const { return m * n * k; }
};

}  // namespace tessera::cuda
