// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tiles of the algorithm warpgroup_f32, and how the parts of its operands lie in memory: the one list from which
/// its kernels are instantiated and its choice is made.
#pragma once

#include "../bf16_parts.hpp"
#include "../warpgroup/warpgroup_tiles.hpp"

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

/// What a block computes at a time: two warpgroups multiply 64 rows of the tile each, one more loads.
struct WarpgroupF32Tile {
  std::int64_t compute;  ///< of tessera_compute
  int parts_a, parts_b;  ///< of an element of A, of B, of 2 bytes each
  int n;
  int slabs;       ///< of a step
  int stages;      ///< of the ring, each for a step
  int cluster;     ///< blocks whose tiles lie below one another and share the tiles of B
  int number = 0;  ///< in the list

  static constexpr int kM = 128, kThreads = 384;
  static constexpr int kSlab = 32;  ///< parts lie in slabs of so many of k; no slab is in two steps
  /// Whether it is for the types of the product.
  bool is_for(const plugin::GemmProblem& p) const {
    if (compute == TESSERA_COMPUTE_F16X3) return !p.mixed();
    return parts_a == bf16_parts(p.dtype) && parts_b == bf16_parts(p.dtype_b);
  }
  /// Of parts, for an element of A and one of B.
  constexpr int products() const { return compute == TESSERA_COMPUTE_F16X3 ? 3 : bf16_products(parts_a, parts_b); }

  constexpr int m() const { return kM; }
  /// Whether sums have the order of most tiles: steps of as many slabs, and registers for those of a slice apart.
  constexpr bool ordered() const { return n <= 128; }
  constexpr int depth() const { return slabs * kSlab; }  ///< k goes by in steps of so many
  constexpr int stage_bytes() const { return 2 * depth() * (parts_a * kM + parts_b * n); }
  /// Of shared memory: the ring, where warps lay out rows of D, and the barriers.
  constexpr int shared_bytes() const {
    return stages * stage_bytes() + kThreads / 32 * 2 / 3 * WarpgroupTile::kWarpBytes + 16 * stages;
  }
};

/// Of each arithmetic from the largest on, which needs the fewest bytes a product. A step is long enough for one of the
/// two warpgroups to add up its sums while the other multiplies.
inline constexpr std::array kWarpgroupF32Tiles{
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 3, 3, 128, 1, 4, 2, 0},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 3, 3, 64, 1, 5, 1, 1},
    WarpgroupF32Tile{TESSERA_COMPUTE_F16X3, 2, 2, 192, 1, 4, 2, 2},
    WarpgroupF32Tile{TESSERA_COMPUTE_F16X3, 2, 2, 128, 2, 3, 2, 3},
    WarpgroupF32Tile{TESSERA_COMPUTE_F16X3, 2, 2, 64, 2, 4, 1, 4},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 3, 1, 128, 2, 3, 2, 5},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 3, 1, 64, 2, 3, 1, 6},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 1, 3, 128, 2, 3, 2, 7},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 1, 3, 64, 2, 4, 1, 8},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 3, 2, 128, 1, 4, 2, 9},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 3, 2, 64, 1, 6, 1, 10},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 2, 3, 128, 1, 4, 2, 11},
    WarpgroupF32Tile{TESSERA_COMPUTE_BF16X6, 2, 3, 64, 1, 6, 1, 12},
};

static_assert(std::ranges::all_of(kWarpgroupF32Tiles,
                                  [](const WarpgroupF32Tile& tile) { return kOrderedPartsUnit % tile.depth() == 0; }));

}  // namespace tessera::cuda
