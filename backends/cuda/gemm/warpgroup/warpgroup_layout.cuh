// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Hopper's instructions for products of a warpgroup: how operands lie in shared memory, and clusters (PTX ISA 8.0:
/// wgmma).
#pragma once

#include "../../bulk_copy.cuh"
#include "../../cp_async.cuh"
#include "warpgroup_tiles.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

/// Where part `part`, of 16 bytes, of a row of 128 lies: rows of all blocks follow one another.
__device__ constexpr int swizzled(int row, int part) { return row * 128 + (part ^ row % 8) * 16; }

/// A tile of an operand: rows or columns by as many of k as are 128 bytes. A K-major one has rows of neighbours along
/// k. The others are columns of so many rows of op(A), or of op(B)'s columns, one square block after another. Rows have
/// 128 bytes; bulk copies and products permute the 16-byte parts of eight of them in the same way (128-byte swizzle).
template <class T, bool kKMajorValue>
struct WarpgroupOperand {
  static constexpr std::size_t kElementBytes = sizeof(T);
  static constexpr bool kKMajor = kKMajorValue;
  static constexpr int kLine = WarpgroupTile::depth(sizeof(T));  ///< elements of a row, and side of a block
  static constexpr int kBlockBytes = kLine * 128;

  /// The lower half of what a product instruction is told of the tile at a shared address: start, and the distance of
  /// blocks of the extent (K-major: not used), in units of 16 bytes. Tiles lie at multiples of 1024.
  static __device__ __forceinline__ std::uint32_t place(std::uint32_t address) {
    return (address >> 4 & 0x3fc0) | std::uint32_t(kKMajor ? 1 : kBlockBytes >> 4) << 16;
  }
  /// All of it, for the `step`th 32 bytes of k of the tile at a place: the distance of eight rows, and the swizzle.
  /// Added in 32 bits: carries into the upper half are instructions between products.
  static __device__ __forceinline__ std::uint64_t descriptor(std::uint32_t place, int step) {
    constexpr std::uint32_t kHigh = 1024 >> 4 | 1u << 30;
    return std::uint64_t(kHigh) << 32 | (place + std::uint32_t(step) * kStep);
  }
  /// To the next 32 bytes of k, which an instruction multiplies.
  static constexpr std::uint32_t kStep = (kKMajor ? 32 : 16 * 128) >> 4;
};

/// 16 bytes of a tile from neighbours that begin anywhere, of which so many exist. Elements of f32 are rounded as bulk
/// copies round them: to nearest, ties to even.
template <class T>
__device__ __forceinline__ uint4 part_of(const T* from, std::int64_t exist) {
  constexpr int kInWord = 4 / int(sizeof(T));
  std::uint32_t words[4];
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    if constexpr (kInWord == 1) {
      words[word] = 0;
      if (word < exist) asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(words[word]) : "f"(from[word]));
    } else {
      words[word] =
          (2 * word < exist ? from[2 * word].bits : 0u) | (2 * word + 1 < exist ? from[2 * word + 1].bits : 0u) << 16;
    }
  }
  return {words[0], words[1], words[2], words[3]};
}
__device__ __forceinline__ void store_part(std::uint32_t shared, const uint4& words) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(words.x), "r"(words.y), "r"(words.z),
               "r"(words.w)
               : "memory");
}

/// Two warpgroups that multiply give each other the turn: while one finishes its sums, the other's products run.
struct WarpgroupTurns {
  int consumer;

  __device__ void begin() const {
    if (consumer == 1) pass();
  }
  __device__ void wait() const { asm volatile("bar.sync %0, 256;" ::"r"(1 + consumer) : "memory"); }
  __device__ void pass() const { asm volatile("bar.arrive %0, 256;" ::"r"(2 - consumer) : "memory"); }
};

// ---- Clusters

__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace tessera::cuda
