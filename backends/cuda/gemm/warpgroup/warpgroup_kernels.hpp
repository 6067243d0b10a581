// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup and their arguments: T is of 16 bits, or f32, which is computed in tf32. The files
/// warpgroup_<type>.cu instantiate them, for devices of compute capability 9.0 alone.
#pragma once

#include "../slices.cuh"
#include "../triangle_tiles.hpp"
#include "warpgroup_tiles.hpp"

#include <cuda.h>

#include <array>
#include <bit>
#include <cstdint>

namespace tessera::cuda {

using WarpgroupTypes = TypeList<float, float16, bfloat16>;

/// What bulk copies know of an operand.
struct WarpgroupMap {
  CUtensorMap map, pair;  ///< of a step; of two
  CUtensorMap edge;  ///< of a step of the last tile, where that has fewer rows or columns and is K-major, else `map`
  bool varies;       ///< with the matrix of the batch
  int last_pair;     ///< the last of k from where `pair` is for two steps; -1: none
  int extent;        ///< rows or columns

  /// That of most copies of tiles of so many rows or columns.
  __host__ __device__ const CUtensorMap& most(int of_tile) const {
    if (extent < of_tile) return edge;
    return last_pair < 0 ? map : pair;
  }
};

/// What numbers below 2^31 are divided by, known to the host: a multiplication where blocks begin (H. S. Warren,
/// Hacker's Delight, 10-9). From 1 on.
struct WarpgroupDivisor {
  std::uint32_t divisor = 1, factor = 1, shift = 0;

  constexpr WarpgroupDivisor() = default;
  constexpr explicit WarpgroupDivisor(std::uint32_t d)
      : divisor(d),
        factor(std::uint32_t(((std::uint64_t(1) << std::bit_width(d - 1)) - d << 32) / d + 1)),
        shift(std::uint32_t(std::bit_width(d - 1))) {}
};

/// The order in which clusters take work: slices of k of tiles, each cluster every so many. Tiles are numbered in
/// groups of `group` rows of them, in a group down the rows first: clusters that run at a time read few rows and
/// columns.
struct WarpgroupOrder {
  std::uint32_t first, units;  ///< of a cluster's work
  WarpgroupDivisor slices;
  std::uint32_t rows;                    ///< of clusters' tiles in a matrix
  WarpgroupDivisor group, last_group;    ///< rows of all groups but the last, and of that
  WarpgroupDivisor of_group, of_matrix;  ///< tiles
  WarpgroupCluster tiles;                ///< by which tiles are numbered: those of a cluster, as a rule; powers of two
  WarpgroupCluster cluster;              ///< of the launch
  TriangleTiles triangle;                ///< whose tiles are numbered, where there is one
};

/// How a kernel writes D: of 16 bits by bulk copies, or in words, from any address; of f32, and sums of slices, in
/// pairs; or the sums of a cluster's slices, added on the way.
enum class WarpgroupWriting { kBulk, kWords, kPairs, kSlices };

/// Which operands are K-major, and whether D is turned: it lies by columns, and the product is D^T = op(B)^T op(A)^T.
struct WarpgroupLayout {
  bool k_major_a, k_major_b, turned;

  bool operator==(const WarpgroupLayout&) const = default;
};

/// Those that kernels know. Of 16 bits turned ones have all kernels: a tile has any multiple of 8 rows of D then, and D
/// is written by lines of 128 bytes all the same. The others, see warpgroup_may_keep(), are for what they gain at
/// times. Of f32 B is K-major in all of them, since the instruction reads no other.
template <class T>
inline constexpr std::array<WarpgroupLayout, 6> kWarpgroupLayouts{{{true, true, true},
                                                                   {true, false, true},
                                                                   {false, true, true},
                                                                   {false, false, true},
                                                                   {true, true, false},
                                                                   {false, true, false}}};
template <>
inline constexpr std::array<WarpgroupLayout, 3> kWarpgroupLayouts<float>{
    {{true, true, false}, {false, true, false}, {false, true, true}}};

/// Whether there are kernels for triangles: of a matrix and its transpose, D being written by boxes, and turned.
template <class T>
constexpr bool warpgroup_has_triangles(const WarpgroupLayout& layout) {
  return sizeof(T) == 2 && layout.turned && layout.k_major_a == layout.k_major_b;
}

/// Instructions read operands of 4 bytes from shared memory where they are K-major alone: another A goes by registers.
template <class T>
constexpr bool warpgroup_has_fragments(const WarpgroupLayout& layout) {
  return sizeof(T) == 4 && !layout.k_major_a;
}

/// In the order of the product: where that is turned, A is op(B)^T and B op(A)^T; C and D are as they lie.
template <class T>
struct WarpgroupArguments {
  WarpgroupMap a, b;
  CUtensorMap d, aux;  ///< where bulk copies write them
  SlicedArguments<T> x;
  WarpgroupOrder order;
  WarpgroupTile tile;
  int stages;                    ///< of the ring,
  int stage_steps;               ///< steps of k of one,
  std::uint32_t stage_distance;  ///< and bytes
  int box_rows;                  ///< of D, that a bulk copy writes
  bool tail;  ///< the launch before computes other tiles of the same product: no need to wait for it at once
};

/// By layout, and by writing; null where there is none. All add in the same order.
template <class T>
struct WarpgroupKernels {
  using Kernel = void (*)(WarpgroupArguments<T>);
  using ByWriting = std::array<Kernel, 4>;
  using ByLayout = std::array<ByWriting, kWarpgroupLayouts<T>.size()>;
  ByLayout by_copies;
  /// They read operands at any address, element by element, and share none of them in clusters. None writes by bulk
  /// copies.
  ByLayout by_elements;
  /// Those for triangles, by whether they read operands element by element.
  std::array<std::array<Kernel, 2>, kWarpgroupLayouts<T>.size()> triangles;
};

template <class T>
const WarpgroupKernels<T>& warpgroup_kernels();

}  // namespace tessera::cuda
