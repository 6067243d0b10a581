// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The coefficients of warpgroup's model of time, as costs.hpp has those of the others. Times are in seconds.
#pragma once

#include "warpgroup_tiles.hpp"

#include <array>

namespace tessera::cuda {

struct WarpgroupTileCosts {
  double rate;    ///< share of the units' multiply-adds
  double tile;    ///< of a tile: its first copies, and writing it
  double memory;  ///< share of a copy's rate at which A, B and D are, at best
};

struct WarpgroupCosts {
  std::array<WarpgroupTileCosts, kWarpgroupTiles.size()> tiles;  ///< in the order of the list
  double launch;
  double slow_clock, long_steps;  ///< how much more time steps take where a block has so many: the clock falls
  double write_one;               ///< the same of writing, where D is not aligned
  double second_kernel, second_kernel_slice;  ///< to add the sums of slices, and for each slice
  double partial_memory;                      ///< share of a copy's rate at which they are written and read
  double copy, copy_memory;                   ///< to launch the copy of an operand, and the share of a copy's rate
};

/// Measured on an H100, the only kind of device that runs it.
inline constexpr WarpgroupCosts kWarpgroupCosts{
    .tiles = {{
        {0.86, 3.45e-06, 0.8},   // 128 x 256
        {0.79, 1.64e-06, 0.88},  // 128 x 128
        {0.52, 1.26e-06, 0.68},  // 64 x 128
        {0.39, 0.95e-06, 0.65},  // 64 x 64
    }},
    .launch = 3.19e-06,
    .slow_clock = 1.23,
    .long_steps = 128,
    .write_one = 5.4,
    .second_kernel = 4.3e-06,
    .second_kernel_slice = 2.6e-08,
    .partial_memory = 0.56,
    .copy = 3.1e-06,
    .copy_memory = 0.78,
};

}  // namespace tessera::cuda
