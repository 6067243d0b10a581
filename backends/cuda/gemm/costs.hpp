// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The coefficients of the products' models of time. Doubles alone, which perf/fit varies: each algorithm's
/// *_offers.cpp says what they mean, and measurements what they are. Times are in seconds. Rates are shares of what the
/// machine can do, or per cycle and multiprocessor, so that they hold for machines like the one that was measured.
#pragma once

#include "multistage_tiles.hpp"
#include "warpgroup_f32_tiles.hpp"
#include "warpgroup_tiles.hpp"

#include <array>

namespace tessera::cuda {

struct MultistageTileCosts {
  double rate;         ///< share of the units' multiply-adds, with all the blocks that a multiprocessor holds
  double rate_of_one;  ///< with one block
  double fixed;        ///< before the first product and after the last
};

/// multistage, of an arithmetic.
template <class A>
struct MultistageCosts {
  std::array<MultistageTileCosts, kMultistageTiles<A>.size()> tiles;  ///< in the order of the list
  double later_wave;              ///< of `fixed`, for each wave of blocks after the first
  double overlap;                 ///< the part of the shorter of computing and memory that is not hidden
  double cluster, cluster_slice;  ///< to add sums in a cluster, and for each slice of it
  double cluster_write;           ///< of the elements that a thread adds and writes one after another
  double write, write_one;        ///< the same of single elements, where C is not aligned, and cycles of each of a tile
  double second_kernel, second_kernel_slice;  ///< to add them with another kernel
  double partial_rate;                        ///< bytes a cycle at which they are written and read
  double memory;                              ///< share of a copy's rate at which A, B and C are, at best
  double cache_rate;                          ///< bytes a cycle from the second-level cache
  double latency;                             ///< a block waits so long for 32 of k, at least
  double cluster_slowdown;                    ///< of the products in clusters
  double copy;                                ///< cycles of 16 bytes, or of fewer where the alignment allows no more
  double transposed_copy;  ///< of one element that is transposed on its way: a warp meets four times as many lines
  double k_major_copy;     ///< of one element, as often, in a narrow K-major tile
  double narrow_copy;      ///< of one element of 16 bits, as often: it passes through a register
  double few_blocks;       ///< share of the rate that is lost with one block instead of all
  double transposed;       ///< how much time products take whose op(B) is transposed before
  double transpose, transpose_memory;  ///< to launch that, and the share of a copy's rate that it reaches
};

/// small.
struct SmallCosts {
  double launch;
  double step;     ///< of a wave of blocks, to load and multiply a tile
  double product;  ///< the same for each of k in it
  double single;   ///< the same for each element that a thread loads or writes alone, where an operand is not aligned
  double memory;   ///< share of a copy's rate
  double rate;     ///< share of the units' multiply-adds
};

/// skinny, of a layout of the large operand. What comes first is of a wave of blocks, which waits; what comes then of
/// one block, for which others of its multiprocessor wait.
struct SkinnyLayoutCosts {
  double block;            ///< before the first read and after the last
  double write;            ///< of each element of C that a thread writes
  double row;              ///< of each element of the small operand that a thread copies into shared memory
  double read, wide_read;  ///< of a read of the large operand: of one element, and of 16 bytes
  double busy_block;
  double busy_sum;  ///< of each sum of a thread, which others' are added to
  double rate;      ///< share of the units' multiply-adds
};

/// skinny.
struct SkinnyCosts {
  double launch;
  double memory;   ///< share of a copy's rate
  double overlap;  ///< the part of the shorter of computing and memory that is not hidden
  SkinnyLayoutCosts extent_major, k_major;
  double second_kernel, second_kernel_slice;  ///< to add the sums of slices, and for each slice
};

/// tiled_shared, of a tile.
struct TiledCosts {
  double launch;
  double block;   ///< of a multiprocessor, for each block
  double step;    ///< of a wave of blocks, to load and multiply a tile
  double rate;    ///< share of the units' multiply-adds
  double memory;  ///< share of a copy's rate
};

struct NaiveCosts {
  double launch;
  double block;    ///< of a wave of blocks
  double product;  ///< of such a wave, for each of k
  double rate;     ///< share of the units' multiply-adds where neighbouring threads read neighbours of op(B)
  double strided;  ///< the same where they do not
};

struct WarpgroupTileCosts {
  double rate;    ///< share of the units' multiply-adds
  double tile;    ///< of a tile: its first copies, and writing it
  double memory;  ///< share of a copy's rate at which A, B and D are, at best
};

/// warpgroup, of 16 bits, or of tf32.
struct WarpgroupCosts {
  std::array<WarpgroupTileCosts, kWarpgroupTiles.size()> tiles;  ///< in the order of the list
  double launch;
  double slow_clock, long_steps;  ///< how much more time steps take where a block has so many: the clock falls
  double write_one;               ///< the same of writing, where D is not aligned
  double request;                 ///< clocks of a bulk copy's request of a line of 128 bytes
  double shared;                  ///< of a launch in clusters
  double tail;                    ///< of the launch for the tiles that are left over
  double cluster, cluster_sum;    ///< to add the sums of a cluster's slices, and for each that a block reads
  double second_kernel, second_kernel_slice;  ///< to add the sums of slices, and for each slice
  double partial_memory;                      ///< share of a copy's rate at which they are written and read
  double copy, copy_memory;  ///< to launch the copy or transposition of an operand, and the share of a copy's rate
};

struct WarpgroupF32TileCosts {
  double rate;  ///< share of the units' multiply-adds, of which an element needs several
  double tile;  ///< of a tile: its first copies, and writing it
};

/// warpgroup_f32.
struct WarpgroupF32Costs {
  std::array<WarpgroupF32TileCosts, kWarpgroupF32Tiles.size()> tiles;  ///< in the order of the list
  double launch;
  double memory;               ///< share of a copy's rate at which A, B and D are, at best
  double write_one;            ///< how much more time a tile takes where D is not aligned
  double parts, parts_memory;  ///< to launch what makes an operand's parts, and the share of a copy's rate
  double second_kernel, second_kernel_slice;  ///< to add the sums of slices, and for each slice
  double partial_memory;                      ///< share of a copy's rate at which they are written and read
};

template <class T>
struct GemmTypeCosts {
  MultistageCosts<T> multistage;
  double peeled;  ///< how much more time a product in parts takes than the parts by themselves
  SmallCosts small;
  SkinnyCosts skinny;
  TiledCosts tiled16, tiled32;
  NaiveCosts naive;
};

struct GemmCosts {
  GemmTypeCosts<float> f32;
  GemmTypeCosts<double> f64;
  GemmTypeCosts<bfloat16> narrow;  ///< of 16 bits: both types
  MultistageCosts<Tf32> tf32;      ///< the rest is that of f32
  WarpgroupCosts warpgroup, warpgroup_tf32;
  WarpgroupF32Costs warpgroup_f32;
};

/// Those of an element type.
template <class T>
inline constexpr auto kGemmTypeCosts = &GemmCosts::narrow;
template <>
inline constexpr auto kGemmTypeCosts<float> = &GemmCosts::f32;
template <>
inline constexpr auto kGemmTypeCosts<double> = &GemmCosts::f64;

}  // namespace tessera::cuda
