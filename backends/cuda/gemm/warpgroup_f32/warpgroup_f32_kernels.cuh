// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup_f32 and their arguments. The files warpgroup_f32_<arithmetic>.cu instantiate them, for
/// devices of compute capability 9.0 alone.
#pragma once

#include "../slices.cuh"
#include "warpgroup_f32_tiles.hpp"

#include <cstdint>

namespace tessera::cuda {

/// An operand and its parts. Rows of op(A), or columns of op(B), are lines; `block` of them are what a tile has. Parts
/// lie in the order in which a step's products read them from shared memory: matrices, blocks of lines, slabs of k,
/// parts, pieces of 16 bytes along k, lines. So a tile's share of a step is one piece of memory. What does not exist is
/// zero.
struct PartsOperand {
  const void* data;         ///< of f32, or of 16 bits
  std::int64_t ld, stride;  ///< of the matrices
  std::int64_t lines, k, matrices;
  bool k_major;  ///< lines are contiguous, else their neighbours are
  bool vectors;  ///< 16 bytes can be read at once, from multiples of so many of a line on
  int block;
  int step_slabs;  ///< slabs of a step: there are whole steps
  unsigned char* parts;
  std::uint32_t* largest;  ///< f16x3: bits of the largest size of each share of a line, kLargestShares of each
  std::int32_t* scale;     ///< f16x3: elements of a line are multiplied by 2^scale

  __host__ __device__ std::int64_t blocks() const { return (lines + block - 1) / block; }
  __host__ __device__ std::int64_t slabs() const {
    const std::int64_t depth = std::int64_t(step_slabs) * WarpgroupF32Tile::kSlab;
    return (k + depth - 1) / depth * step_slabs;
  }
  /// Lines of all matrices, whole blocks.
  __host__ __device__ std::int64_t all_lines() const { return matrices * blocks() * block; }
  /// f16x3: that of a line for a product of the batch; 0 beyond the last one.
  __device__ std::int32_t scale_of(std::int64_t item, std::int64_t line) const {
    return line < lines ? scale[(matrices > 1 ? item : 0) * blocks() * block + line] : 0;
  }
};

/// Neighbours along k of 64 lines are a block's work.
inline constexpr int kPartsLines = 64, kPartsDepth = 128, kPartsThreads = 256;
/// Shares of k whose largest elements are looked for apart.
inline constexpr int kLargestShares = 16;

/// What one launch splits: A and B, or one of them and nothing.
struct PartsArguments {
  PartsOperand of[2];
};

/// A and B by their parts.
struct WarpgroupF32Arguments {
  PartsOperand a, b;
  SlicedArguments<float> x;
  int steps_apart;  ///< whose sums are added up apart
};

struct WarpgroupF32Kernels {
  void (*product)(WarpgroupF32Arguments);
  void (*parts)(PartsArguments);
  void (*largest)(PartsArguments);     ///< f16x3: comes before `parts`; else null
  void (*add)(WarpgroupF32Arguments);  ///< slices
};

/// Those of a tile of the list.
template <int kNumber>
WarpgroupF32Kernels warpgroup_f32_kernels_of();

}  // namespace tessera::cuda
