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
  int cluster;     ///< blocks whose tiles lie below one another and share the tiles of B
  int number = 0;  ///< in the list

  static constexpr int kDepth = 64;  ///< k goes by in steps of so many: rows of 128 bytes, what the swizzle spans
  constexpr int m() const { return 64 * consumers; }
  constexpr int threads() const { return 128 * (consumers + 1); }
  constexpr int stage_bytes() const { return 2 * kDepth * (m() + n); }
  /// Of shared memory: the ring, where warps lay out rows of D, and the barriers.
  static constexpr int kWarpBytes = 16 * 272;
  constexpr int shared_bytes() const { return stages * stage_bytes() + 4 * consumers * kWarpBytes + 16 * stages; }
};

/// From the largest, which needs the fewest bytes a product, to those for products that are over before a large tile
/// has begun.
inline constexpr std::array kWarpgroupTiles{
    WarpgroupTile{2, 256, 4, 2, 0},
    WarpgroupTile{2, 128, 6, 1, 1},
    WarpgroupTile{1, 128, 8, 1, 2},
    WarpgroupTile{1, 64, 8, 1, 3},
};

}  // namespace tessera::cuda
