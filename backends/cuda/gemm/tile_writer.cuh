// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a block's tile go to C: from registers, or through shared memory.
#pragma once

#include "../cp_async.cuh"
#include "gemm.cuh"

#include <cooperative_groups.h>

#include <cstdint>

namespace tessera::cuda {

/// Where a block's tile of C goes.
template <class T>
struct TileTarget {
  T* c;  ///< its first element
  std::int64_t ldc;
  int rows, columns;  ///< that exist
  Epilogue<T> epilogue;

  /// Writes sums of neighbours in a row.
  template <int kCount>
  __device__ __forceinline__ void write(int row, int column, const Vector<T, kCount>& sums) const {
    if (row >= rows || column >= columns) return;
    epilogue.write(c + row * ldc + column, sums);
  }
};

/// Waits for all threads that hold sums of the tile, and sees what they wrote: the block's, or the cluster's.
template <bool kCluster>
__device__ __forceinline__ void synchronize_tile() {
#if __CUDA_ARCH__ >= 900
  if constexpr (kCluster) return cooperative_groups::this_cluster().sync();
#endif
  __syncthreads();
}

/// Writes a thread's sums from its registers, in segments of whole sectors where C is aligned to them.
template <class Core>
__device__ __forceinline__ void write_sums(const Core& core, const TileTarget<typename Core::T>& target) {
#pragma unroll
  for (int segment = 0; segment < Core::kSegments; ++segment) {
    Vector<typename Core::T, Core::kSegmentWidth> sums;
#pragma unroll
    for (int e = 0; e < Core::kSegmentWidth; ++e) sums.value[e] = core.element(segment, e);
    target.write(core.row(segment), core.column(segment), sums);
  }
}

/// Puts a thread's sums into the block's tile of C in shared memory. `one`: 1, unknown to the compiler. A vector store
/// of the sums themselves would tie them to neighbouring registers in the main loop, where multiply-adds then find
/// their operands in one bank of the register file: 8 % of its time.
template <class Core, int kPitch>
__device__ __forceinline__ void store_tile(const Core& core, typename Core::T* tile, typename Core::T one) {
  constexpr int kWidth = Core::kSegmentWidth;
  using Segment = Vector<typename Core::T, kWidth>;
#pragma unroll
  for (int segment = 0; segment < Core::kSegments; ++segment) {
    Segment sums;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sums.value[e] = core.element(segment, e) * one;
    *reinterpret_cast<Segment*>(tile + core.row(segment) * kPitch + core.column(segment)) = sums;
  }
}

/// Writes the tile in shared memory row by row, kWidth neighbours a thread. A cluster's blocks hold sums of other
/// slices of the same tile: each takes a share of the segments and adds them in the order of the slices.
template <class Core, int kPitch, bool kCluster, int kWidth>
__device__ __forceinline__ void write_tile(const typename Core::T* tile, int slices,
                                           const TileTarget<typename Core::T>& target) {
  using Segment = Vector<typename Core::T, kWidth>;
  constexpr int kAcross = Core::kN / kWidth, kSegments = Core::kM * kAcross;
  int rank = 0;
#if __CUDA_ARCH__ >= 900
  if constexpr (kCluster) rank = int(cooperative_groups::this_cluster().block_rank());
#endif
#pragma unroll 4
  for (int segment = rank * Core::kThreads + int(threadIdx.x); segment < kSegments;
       segment += (kCluster ? slices : 1) * Core::kThreads) {
    const int row = segment / kAcross, column = segment % kAcross * kWidth;
    const auto* const place = tile + row * kPitch + column;
    Segment sums{};
    if constexpr (!kCluster) sums = *reinterpret_cast<const Segment*>(place);
#if __CUDA_ARCH__ >= 900
    if constexpr (kCluster)
      for (int slice = 0; slice < slices; ++slice) {
        const auto* const there = cooperative_groups::this_cluster().map_shared_rank(place, unsigned(slice));
        const Segment part = *reinterpret_cast<const Segment*>(there);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) sums.value[e] += part.value[e];
      }
#endif
    target.write(row, column, sums);
  }
}

/// Writes a block's tile. `shared` holds the operands that came last, and has room for kM rows of kPitch elements.
/// `one`: see store_tile().
template <class Core, bool kCluster>
__device__ __forceinline__ void write_result(const Core& core, typename Core::T* shared, int slices,
                                             typename Core::T one, const TileTarget<typename Core::T>& target) {
  constexpr int kPitch = Core::kN + Core::kTilePad, kWidth = 16 / int(sizeof(typename Core::T));
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(target.c) % 16 == 0 && target.ldc % kWidth == 0 && target.columns % kWidth == 0;
  if (!kCluster && aligned) return write_sums(core, target);
  // Single elements in the order of the registers would be parts of sectors, and take twice the time: they pass through
  // shared memory, where they overwrite what was read, and where the last copies, of zeros beyond the last tile, go.
  cp_async_wait<0>();
  __syncthreads();
  store_tile<Core, kPitch>(core, shared, one);
  synchronize_tile<kCluster>();
  if (kCluster && aligned)
    write_tile<Core, kPitch, kCluster, kWidth>(shared, slices, target);
  else
    write_tile<Core, kPitch, kCluster, 1>(shared, slices, target);
  if constexpr (kCluster) synchronize_tile<kCluster>();  // nobody leaves while others read its sums
}

}  // namespace tessera::cuda
