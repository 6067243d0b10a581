// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The constants of tile_model.hpp: what a device's products take, whatever the kernel, and the rate of each kernel.
/// Doubles alone, which perf/fit varies. Times are in seconds, cycles those of a multiprocessor.
#pragma once

#include "multistage_tiles.hpp"
#include "warpgroup_f32_tiles.hpp"
#include "warpgroup_tiles.hpp"

#include <array>
#include <cstddef>

namespace tessera::cuda {

struct ProductCosts {
  double launch;                   ///< of a kernel beside its waves of blocks
  double fill, fill_depth;         ///< of a wave beside its steps; more for each 16 of k in a pipeline's step
  double element;                  ///< of a wave, for each element of C in a block
  double copy, word;               ///< cycles to issue a copy, and one of an element that passes through a register
  double request;                  ///< cycles of a bulk copy's request of a line of 128 bytes
  double cache_rate;               ///< bytes a cycle from the second-level cache
  double memory;                   ///< share of a copy's rate at which A, B and D are read and written
  double overlap;                  ///< the part of the shorter of blocks and memory that is not hidden
  double write_one, write_wait;    ///< cycles of an element of C that is written alone, and seconds a thread waits
  double sector;                   ///< of D's bytes that move again where warpgroups write parts of sectors
  double cluster, cluster_read;    ///< to add sums in a cluster, and of each read of another block's sums
  double sharing;                  ///< of a launch whose blocks share operands in a cluster
  double pass;                     ///< of a kernel that copies or transposes an operand before
  double adding, adding_slice;     ///< of a kernel that adds the sums of slices, and for each slice
  double partial_rate;             ///< share of a copy's rate at which these are written and read
  double naive_wait;               ///< of each of k in naive,
  double naive_strided;            ///< share of naive's rate where neighbouring threads do not read neighbours of op(B)
  double tiled_wait;               ///< of each of k in tiled_shared
  double small_wait, single;       ///< of a tile in small, and of an element that a thread loads or writes alone
  double read, k_major_read, row;  ///< of reads in skinny one after another, and of elements of the small operand
};

/// multistage, of an arithmetic.
template <std::size_t kTiles>
struct MultistageRates {
  std::array<double, kTiles> tiles;  ///< share of the units, with all warps
  double warps;                      ///< that give 63 % of it
  double element;                    ///< of a wave, for each element of C in a block
  double latency;                    ///< of 32 of k, at least
};

/// The share of the units' multiply-adds that the kernels of a type reach.
template <class T>
struct GemmTypeRates {
  MultistageRates<kMultistageTiles<T>.size()> multistage;
  double naive, tiled16, tiled32, small, skinny, k_major_skinny;  ///< which multiply element by element
};

/// The algorithms of warpgroups.
struct WarpgroupRates {
  std::array<double, kWarpgroupTiles.size()> of_16, of_tf32;  ///< warpgroup: share of the units
  std::array<double, kWarpgroupF32Tiles.size()> of_f32;       ///< warpgroup_f32: the same
  double element, write_one;                                  ///< as of the other kernels
};

struct GemmCosts {
  ProductCosts product;
  GemmTypeRates<float> f32;
  GemmTypeRates<double> f64;
  GemmTypeRates<bfloat16> narrow;                       ///< of 16 bits: both types
  MultistageRates<kMultistageTiles<Tf32>.size()> tf32;  ///< the rest is that of f32
  WarpgroupRates warpgroup;
};

/// Those of an element type.
template <class T>
inline constexpr auto kGemmTypeRates = &GemmCosts::narrow;
template <>
inline constexpr auto kGemmTypeRates<float> = &GemmCosts::f32;
template <>
inline constexpr auto kGemmTypeRates<double> = &GemmCosts::f64;

}  // namespace tessera::cuda
