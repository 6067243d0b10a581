// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The instruction sets that the backend can be built for, as its kernels and its models of time see them.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tessera::cpu {

/// Registers, and the tile of C that fits into them: tile_rows x tile_vectors sums, tile_vectors of op(B) and one
/// broadcast of op(A) fill the 32 registers of AVX-512 and of aarch64, or the 16 of AVX2 and SSE (which also needs one
/// for a product, without FMA). Where B lies as it is a tile may have up to most_vectors.
struct InstructionSet {
  int vector_bytes;
  int tile_rows, tile_vectors, most_vectors;

  /// Rows of a tile of so many vectors where both operands lie as they are: as many sums as the tile of packed operands
  /// has, but no more rows than there are registers for their addresses.
  constexpr int most_rows(int vectors) const { return std::min(2 * tile_rows, tile_rows * tile_vectors / vectors); }
  /// So few rows of D that columns of op(B) which lie along k become rows in registers: a copy would take longer.
  constexpr int few_rows(std::size_t element_bytes) const { return std::max(1, vector_bytes / int(element_bytes) / 2); }
};

inline constexpr InstructionSet kAvx512{64, 8, 3, 4};
inline constexpr InstructionSet kAvx2{32, 4, 3, 3};
inline constexpr InstructionSet kSse{16, 4, 2, 2};
inline constexpr InstructionSet kNeon{16, 8, 3, 4};

/// The one that this file is compiled for.
#if defined(__AVX512F__)
constexpr InstructionSet kInstructionSet = kAvx512;
#elif defined(__AVX2__)
constexpr InstructionSet kInstructionSet = kAvx2;
#elif defined(__aarch64__)
constexpr InstructionSet kInstructionSet = kNeon;
#else
constexpr InstructionSet kInstructionSet = kSse;
#endif

}  // namespace tessera::cpu
