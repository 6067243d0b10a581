// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The coefficients of warpgroup's model of time, as costs.hpp has those of the others. Times are in seconds.
#pragma once

#include "warpgroup_tiles.hpp"

#include <array>

namespace tessera::cuda {

struct WarpgroupTileCosts {
  double rate;  ///< share of the units' multiply-adds
  double tile;  ///< of a tile: its first copies, and writing it
};

struct WarpgroupCosts {
  std::array<WarpgroupTileCosts, kWarpgroupTiles.size()> tiles;  ///< in the order of the list
  double launch;
  double slow_clock, long_steps;  ///< how much more time steps take where a block has so many: the clock falls
  double write_one;               ///< the same of writing, where D is not aligned
  double memory;                  ///< share of a copy's rate at which A, B and D are, at best
  double second_kernel;           ///< to add the sums of slices
  double partial_memory;          ///< share of a copy's rate at which they are written and read
  double copy, copy_memory;       ///< to launch the copy of an operand, and the share of a copy's rate
};

/// Measured on an H100, the only kind of device that runs it.
inline constexpr WarpgroupCosts kWarpgroupCosts{
    .tiles = {{
        {0.93, 2e-06},   // 128 x 256
        {0.8, 1.5e-06},  // 128 x 128
        {0.6, 1.2e-06},  // 64 x 128
        {0.35, 1e-06},   // 64 x 64
    }},
    .launch = 3.5e-06,
    .slow_clock = 1.2,
    .long_steps = 128,
    .write_one = 3,
    .memory = 0.9,
    .second_kernel = 2.5e-06,
    .partial_memory = 1.2,
    .copy = 2.5e-06,
    .copy_memory = 0.7,
};

}  // namespace tessera::cuda
