// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Hopper's instructions for products of a warpgroup: how operands lie in shared memory, bulk copies of tiles, and the
/// barriers that order both (PTX ISA 8.0: wgmma, cp.async.bulk.tensor, mbarrier).
#pragma once

#include "../cp_async.cuh"
#include "warpgroup_tiles.hpp"

#include <cuda.h>

#include <cstdint>

namespace tessera::cuda {

/// A tile of an operand: kExtent rows or columns by as many of k as are 128 bytes. A K-major one has rows of neighbours
/// along k. The others are columns of so many rows of op(A), or of op(B)'s columns, one square block after another.
/// Rows have 128 bytes; bulk copies and products permute the 16-byte parts of eight of them in the same way (128-byte
/// swizzle).
template <class T, int kExtentValue, bool kKMajorValue>
struct WarpgroupOperand {
  static constexpr int kExtent = kExtentValue;
  static constexpr bool kKMajor = kKMajorValue;
  static constexpr int kLine = WarpgroupTile::depth(sizeof(T));  ///< elements of a row, and side of a block
  static constexpr int kBlockBytes = kLine * 128;
  static constexpr int kBytes = kExtent * 128;

  /// What a product instruction is told of the tile at a shared address, from a multiple of 64 of its extent on.
  static __device__ std::uint64_t descriptor(std::uint32_t address, int first) {
    // Start; the distance of blocks of the extent (K-major: not used); that of eight rows; the swizzle. In units of 16
    // bytes.
    const std::uint64_t start = (address + std::uint32_t(first * 128)) >> 4 & 0x3fff;
    return start | std::uint64_t(kKMajor ? 1 : kBlockBytes >> 4) << 16 | std::uint64_t(1024 >> 4) << 32 |
           std::uint64_t(1) << 62;
  }
  /// Where part `part`, of 16 bytes, of a row of 128 lies: rows of all blocks follow one another.
  static __device__ constexpr int offset(int row, int part) { return row * 128 + (part ^ row % 8) * 16; }
  /// To the next 32 bytes of k, which an instruction multiplies.
  static constexpr std::uint64_t kStep = (kKMajor ? 32 : 16 * 128) >> 4;
};

// ---- Barriers in shared memory, by their addresses

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
/// Waits for the end of the phase of this parity.
__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Arrives, and lets the phase wait for so many bytes of copies as well.
__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Arrives. The reads of products that are over need no fence.
__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives at the barrier of a block of the cluster.
__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier, unsigned block) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(barrier),
      "r"(block)
      : "memory");
}

// ---- Bulk copies of boxes of a tensor of three axes: the contiguous one, rows, matrices

/// `blocks`: a bit for each block of the cluster to whose same place it goes, and whose barrier at the same place is
/// told; 0: this block alone.
__device__ __forceinline__ void copy_box(std::uint32_t shared, const CUtensorMap& map, std::uint32_t barrier, int along,
                                         int row, int matrix, unsigned blocks) {
  if (blocks != 0)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared),
        "l"(&map), "r"(barrier), "r"(along), "r"(row), "r"(matrix), "h"(std::uint16_t(blocks))
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared),
        "l"(&map), "r"(barrier), "r"(along), "r"(row), "r"(matrix)
        : "memory");
}
/// From shared memory; what lies outside of the tensor is not written.
__device__ __forceinline__ void store_box(const CUtensorMap& map, std::uint32_t shared, int along, int row,
                                          int matrix) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(shared), "r"(along), "r"(row), "r"(matrix)
               : "memory");
}
__device__ __forceinline__ void stores_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Waits until all but the thread's last kGroups groups of stores have read shared memory.
template <int kGroups>
__device__ __forceinline__ void stores_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
}
/// Waits until the thread's stores have written.
__device__ __forceinline__ void stores_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// ---- Registers of a warpgroup's threads

template <int kCount>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

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
