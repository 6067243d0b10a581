// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm skinny_parts cuts a product: pure functions of the problem and the machine, without CUDA. The few
/// rows of D are its rows, or where D is `turned` its columns; the other extent is that of many.
#pragma once

#include "../../machine.hpp"

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <array>
#include <cstdint>

namespace tessera::cuda {

/// What a block of 8 warps computes: a warp 16 or 32 of the few by 16 or 32 of the many, over its share of k.
struct SkinnyPartsTile {
  int few;     ///< of a block
  int warps;   ///< beside one another, which have their own of the few; so many have the same share of k
  int many;    ///< of a block
  int ahead;   ///< chunks that are read before the first is multiplied
  int blocks;  ///< that a multiprocessor has registers for
  int chunks;  ///< of a step, whose products the tensor cores add up: of f32 by f32 as many as warpgroup_f32's
  int number;  ///< in the list

  static constexpr int kWarps = 8, kThreads = 32 * kWarps;
  static constexpr int kChunk = 16;  ///< of k, that an instruction multiplies
  constexpr int slices() const { return kWarps / warps; }
  constexpr int step() const { return chunks * kChunk; }
  constexpr bool is_for(bool mixed) const { return mixed == (chunks == 1); }
};
inline constexpr std::array kSkinnyPartsTiles{
    SkinnyPartsTile{16, 1, 16, 4, 2, 1, 0}, SkinnyPartsTile{16, 1, 32, 2, 2, 1, 1},
    SkinnyPartsTile{32, 1, 32, 3, 1, 1, 2}, SkinnyPartsTile{64, 2, 32, 3, 1, 1, 3},
    SkinnyPartsTile{16, 1, 16, 2, 2, 2, 4}, SkinnyPartsTile{16, 1, 32, 4, 1, 2, 5},
    SkinnyPartsTile{32, 1, 32, 2, 1, 2, 6}, SkinnyPartsTile{64, 2, 32, 2, 1, 2, 7}};

/// The most rows, or columns, that are few.
inline constexpr std::int64_t kSkinnyPartsMost = 256;

/// One way to run a product.
struct SkinnyPartsConfig {
  SkinnyPartsTile tile;
  bool turned;
  std::int64_t split;  ///< blocks of a cluster, which have slices of k and add them
};

/// Of k, that a warp has.
std::int64_t skinny_parts_slice(const plugin::GemmProblem& problem, const SkinnyPartsConfig& config);

SkinnyPartsConfig skinny_parts_config(const plugin::GemmProblem& problem, const plugin::Parameters& parameters);

/// Whether one access reads four neighbours of an operand of this type, as far as distances tell.
bool skinny_parts_vectors(tessera_dtype dtype, std::int64_t ld, std::int64_t stride);

}  // namespace tessera::cuda
