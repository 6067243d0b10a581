// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where the tiles of stairs are. Without CUDA.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Of a square D the blocks below, or above, those on the diagonal, in bands of one block's rows. Two bands make a
/// group of the order, which has as many tiles as the others: one from either end.
struct WarpgroupStairs {
  std::uint32_t bands = 0;   ///< 0: all of D is computed
  std::uint32_t beside = 0;  ///< clusters' tiles of a block
  bool upper = false;

  struct Place {
    std::uint32_t band, column;  ///< of the clusters' tiles
  };
  /// That of a column of tiles of a group.
#ifdef __CUDACC__
  __host__ __device__
#endif
      constexpr Place
      at(std::uint32_t group, std::uint32_t column) const {
    const std::uint32_t last = bands - 1 - group, longer = last * beside;  // the tiles of the longer band
    const bool of_longer = column < longer;
    if (upper) return of_longer ? Place{group, column + (group + 1) * beside} : Place{last, column + beside};
    return of_longer ? Place{last, column} : Place{group, column - longer};
  }
};

}  // namespace tessera::cuda
