// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Hopper's bulk copies of boxes of tensors, the barriers that order them, and how warpgroups share registers (PTX ISA
/// 8.0: cp.async.bulk.tensor, mbarrier, setmaxnreg).
#pragma once

#include "cp_async.cuh"

#include <cuda.h>

#include <cstdint>

namespace tessera::cuda {

/// True in one thread of a warp, all of whose threads are here.
__device__ __forceinline__ bool elected() {
  unsigned is;
  asm volatile(
      "{\n"
      ".reg .pred one;\n"
      "elect.sync _|one, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, one;\n"
      "}\n"
      : "=r"(is));
  return is != 0;
}

// ---- Barriers in shared memory, by their addresses

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
/// Other threads, once they have met its thread, and bulk copies can use barriers that it has made.
__device__ __forceinline__ void barriers_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}
/// Bulk copies, which read and write memory by a way of their own, begin after what the thread did in shared memory.
__device__ __forceinline__ void fence_for_bulk_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
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
/// Whether the phase of this parity is known to have ended.
__device__ __forceinline__ bool barrier_passed(std::uint32_t barrier, unsigned parity) {
  unsigned is;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n"
      "}\n"
      : "=r"(is)
      : "r"(barrier), "r"(parity)
      : "memory");
  return is != 0;
}
/// Arrives, and lets the phase wait for so many bytes of copies as well.
__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Arrives. The reads of products that are over need no fence.
__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// A thread arrives, or does not: without a jump, which would cost its warp more than the arrival.
__device__ __forceinline__ void barrier_arrive_if(bool arrives, std::uint32_t barrier) {
  asm volatile(
      "{\n"
      ".reg .pred arrives;\n"
      "setp.ne.b32 arrives, %1, 0;\n"
      "@arrives mbarrier.arrive.shared::cta.b64 _, [%0];\n"
      "}\n" ::"r"(barrier),
      "r"(int(arrives))
      : "memory");
}
/// The same at the barrier of a block of the cluster.
__device__ __forceinline__ void barrier_arrive_if(bool arrives, std::uint32_t barrier, unsigned block) {
  asm volatile(
      "{\n"
      ".reg .pred arrives;\n"
      ".reg .b32 there;\n"
      "setp.ne.b32 arrives, %2, 0;\n"
      "@arrives mapa.shared::cluster.u32 there, %0, %1;\n"
      "@arrives mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(barrier),
      "r"(block), "r"(int(arrives))
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
/// Two boxes beside one another, to this block alone: of a map with `pair`.
__device__ __forceinline__ void copy_pair(std::uint32_t shared, const CUtensorMap& map, std::uint32_t barrier,
                                          int along, int row, int matrix) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared),
      "l"(&map), "r"(barrier), "r"(along), "r"(row), "n"(0), "r"(matrix)
      : "memory");
}
/// Copies so many bytes that lie side by side: a multiple of 16, from and to multiples of 16.
__device__ __forceinline__ void copy_bytes(std::uint32_t shared, const void* global, unsigned bytes,
                                           std::uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
               "l"(global), "r"(bytes), "r"(barrier)
               : "memory");
}
/// From shared memory. What lies outside of the tensor is not written, but up to whole vectors of 16 bytes.
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

/// The same to this block alone, under a policy of the second-level cache.
__device__ __forceinline__ void copy_box(std::uint32_t shared, const CUtensorMap& map, std::uint32_t barrier, int along,
                                         int row, int matrix, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared),
      "l"(&map), "r"(barrier), "r"(along), "r"(row), "r"(matrix), "l"(policy)
      : "memory");
}
/// Lines that others will read again stay in the second-level cache.
__device__ __forceinline__ std::uint64_t policy_keep() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/// The usual one, said explicitly.
__device__ __forceinline__ std::uint64_t policy_normal() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
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

}  // namespace tessera::cuda
