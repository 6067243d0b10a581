// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tiles of the algorithm warpgroup: the one list from which its kernels are instantiated and its choice is made.
#pragma once

#include <array>
#include <cstddef>

namespace tessera::cuda {

/// What a block computes at a time: `consumers` warpgroups multiply 64 rows of the tile each, one more loads.
struct WarpgroupTile {
  int consumers, n;
  int stages;      ///< of the ring: tiles of A and B that a block keeps in shared memory
  int number = 0;  ///< in the list

  static constexpr int kRowBytes = 128;  ///< what the swizzle spans
  /// k goes by in steps of so many: rows of 128 bytes.
  static constexpr int depth(std::size_t element_bytes) { return kRowBytes / int(element_bytes); }
  /// Bulk copies of D have boxes of so many rows, those of a warp, of 128 bytes.
  static constexpr int kBoxRows = 16, kBoxBytes = kBoxRows * 128;
  constexpr int m() const { return 64 * consumers; }
  constexpr int threads() const { return 128 * (consumers + 1); }
  constexpr int stage_bytes() const { return kRowBytes * (m() + n); }
  /// Where a warp lays out a piece of its part of D: up to 128 columns of 16 bits, or 32 as f32.
  static constexpr int kWarpBytes = 2 * kBoxBytes;
  /// Of shared memory: the ring, where warps lay out rows of D, the bias of each warpgroup, and the barriers.
  constexpr int shared_bytes() const {
    return stages * stage_bytes() + consumers * (4 * kWarpBytes + 4 * n) + 16 * stages;
  }
};

/// From the largest, which needs the fewest bytes a product, to those for products that are over before a large tile
/// has begun.
inline constexpr std::array kWarpgroupTiles{
    WarpgroupTile{2, 256, 4, 0}, WarpgroupTile{2, 192, 4, 1}, WarpgroupTile{2, 128, 6, 2},
    WarpgroupTile{1, 128, 8, 3}, WarpgroupTile{1, 64, 8, 4},
};

/// Blocks of a cluster: so many tiles below and beside one another, which share tiles of A and B; or slices of k of one
/// tile.
struct WarpgroupCluster {
  int m = 1, n = 1, k = 1;

  constexpr int blocks() const { return m * n * k; }
};

}  // namespace tessera::cuda
