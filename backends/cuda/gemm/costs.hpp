// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The constants of tile_model.hpp, as an H100 has them: what products take, whatever the kernel, and the rate of each
/// kernel. Doubles alone, which perf/fit varies: perf/fit/measured/README.md says to what they were fitted. Times are
/// in seconds, cycles those of a multiprocessor.
#pragma once

#include "multistage/multistage_tiles.hpp"
#include "warpgroup_f32/warpgroup_f32_tiles.hpp"

#include <array>
#include <cstddef>

namespace tessera::cuda {

struct ProductCosts {
  double launch = 2.781e-06;          ///< of a kernel beside its waves of blocks
  double fill = 7.411e-07;            ///< of a wave beside its steps,
  double fill_depth = 9.678e-08;      ///< and more for each 16 of k in a pipeline's step
  double element = 2.363e-11;         ///< of a wave, for each element of C in a block
  double copy = 0.1049;               ///< cycles to issue a copy,
  double word = 0.1374;               ///< and one of an element that passes through a register,
  double two_bytes = 0.1306;          ///< and where copies are of two bytes,
  double two_bytes_wait = 3.235e-08;  ///< seconds that a thread waits for one of these
  double k_major_alone = 1.35;        ///< times as long, 16 bits of K-major A and B with D element by element: measured
  double request = 2.445;             ///< cycles of a bulk copy's request of a line of 128 bytes
  double cache_rate = 35.55;          ///< bytes a cycle from the second-level cache
  double memory = 1.103;              ///< share of a copy's rate at which A, B and D are read and written
  double overlap = 0.2948;            ///< the part of the shorter of blocks and memory that is not hidden
  double write_one = 0.2199;          ///< cycles of an element of C that is written alone,
  double write_wait = 1.791e-08;      ///< and seconds a thread waits
  double sector = 1.577;              ///< of D's bytes that move again where warpgroups write parts of sectors
  double cluster = 1.313e-06;         ///< to add sums in a cluster,
  double cluster_read = 4.019e-08;    ///< and of each read of another block's sums
  double sharing = 1.276e-06;         ///< of a launch whose blocks share operands in a cluster
  double pass = 2.556e-06;            ///< of a kernel that copies or transposes an operand before
  double adding = 2.905e-06, adding_slice = 3.64e-08;  ///< of a kernel that adds the sums of slices, and of each slice
  double partial_rate = 1.227;                         ///< share of a copy's rate at which these are written and read
  double naive_wait = 4.519e-08;                       ///< of each of k in naive,
  double naive_strided = 0.6;     ///< share of naive's rate where neighbouring threads read no neighbours of op(B)
  double tiled_wait = 1.478e-08;  ///< of each of k in tiled_shared
  double small_wait = 4.691e-07;  ///< of a tile in small,
  double single = 4.809e-08;      ///< and of an element that a thread loads or writes alone
  double read = 3.978e-07, k_major_read = 1.566e-07;  ///< of reads in skinny one after another,
  double row = 1.333e-07;                             ///< and of elements of the small operand
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

/// warpgroup, of an arithmetic.
struct WarpgroupTypeRates {
  double rate;     ///< share of the units
  double latency;  ///< of a step, at least,
  double in_pair;  ///< and of each of two in a stage
};

/// The algorithms of warpgroups.
struct WarpgroupRates {
  WarpgroupTypeRates of_16{0.8617, 1.049e-07, 5.615e-08}, of_tf32{0.8802, 2.408e-07, 7.044e-08};
  /// warpgroup_f32.
  std::array<double, kWarpgroupF32Tiles.size()> of_f32{0.79, 0.69, 0.6324, 0.6274, 0.5,  0.63, 0.5,
                                                       0.63, 0.5,  0.75,   0.65,   0.75, 0.65};
  double element = 2.112e-11, write_one = 0.3778;                         ///< as of the other kernels
  double cluster = 1.541e-06, slice = 1.746e-07, slice_read = 4.875e-08;  ///< to add slices in a cluster, as there
  /// To write a column of a triangle's tile, of one warpgroup; and in turns, which its short waves do not take.
  double triangle_column = 6.5e-09, triangle_turn = 3.8e-07;
};

/// In the order of the values above, by which perf/fit finds them.
struct GemmCosts {
  ProductCosts product;
  WarpgroupRates warpgroup;
  GemmTypeRates<float> f32{
      .multistage = {.tiles = {0.9925, 0.9766, 1.007, 0.9132, 0.9125, 0.9475, 0.8489, 0.707, 0.6839},
                     .warps = 3.522,
                     .element = 2.413e-11,
                     .latency = 4.692e-07},
      .naive = 0.06862,
      .tiled16 = 0.1036,
      .tiled32 = 0.3449,
      .small = 0.4986,
      .skinny = 0.3485,
      .k_major_skinny = 0.3654};
  GemmTypeRates<double> f64{.multistage = {.tiles = {1.31, 1.226, 1.194, 0.7196, 1.22},
                                           .warps = 2.776,
                                           .element = 1.861e-10,
                                           .latency = 6.518e-07},
                            .naive = 0.05967,
                            .tiled16 = 0.1367,
                            .tiled32 = 0.358,
                            .small = 0.377,
                            .skinny = 0.3452,
                            .k_major_skinny = 0.4225};
  /// Of both types of 16 bits.
  GemmTypeRates<bfloat16> narrow{
      .multistage = {.tiles = {1.531, 1.78, 0.8675}, .warps = 11.84, .element = 7.293e-11, .latency = 1.985e-07},
      .naive = 0.04074,
      .tiled16 = 0.08444,
      .tiled32 = 0.4164,
      .small = 0.5539,
      .skinny = 0.2306,
      .k_major_skinny = 0.1065};
  /// The rest is that of f32.
  MultistageRates<kMultistageTiles<Tf32>.size()> tf32{
      .tiles = {0.7043, 0.5327, 0.4491}, .warps = 10.26, .element = 7.948e-11, .latency = 1.953e-07};
};

/// Those of an element type.
template <class T>
inline constexpr auto kGemmTypeRates = &GemmCosts::narrow;
template <>
inline constexpr auto kGemmTypeRates<float> = &GemmCosts::f32;
template <>
inline constexpr auto kGemmTypeRates<double> = &GemmCosts::f64;

}  // namespace tessera::cuda
