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
  int ahead;   ///< steps that are read before the first is multiplied
  int blocks;  ///< that a multiprocessor has registers for
  int number;  ///< in the list

  static constexpr int kWarps = 8, kThreads = 32 * kWarps;
  static constexpr int kStep = 16;  ///< of k, that the tensor cores add up
  constexpr int slices() const { return kWarps / warps; }
};
inline constexpr std::array kSkinnyPartsTiles{SkinnyPartsTile{16, 1, 16, 4, 2, 0}, SkinnyPartsTile{16, 1, 32, 2, 2, 1},
                                              SkinnyPartsTile{32, 1, 32, 3, 1, 2}, SkinnyPartsTile{64, 2, 32, 3, 1, 3}};

/// The most rows, or columns, that are few.
inline constexpr std::int64_t kSkinnyPartsMost = 256;

/// One way to run a product.
struct SkinnyPartsConfig {
  SkinnyPartsTile tile;
  bool turned;
  std::int64_t split;  ///< slices of k, which the blocks of a cluster have and add
};

SkinnyPartsConfig skinny_parts_config(const plugin::Parameters& parameters);

/// Whether one access reads four neighbours of an operand of this type, as far as distances tell.
bool skinny_parts_vectors(tessera_dtype dtype, std::int64_t ld, std::int64_t stride);

}  // namespace tessera::cuda
