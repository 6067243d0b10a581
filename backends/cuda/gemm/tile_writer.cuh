// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a block's tile become elements of D: from registers, or through shared memory.
#pragma once

#include "../cp_async.cuh"
#include "gemm.cuh"

#include <cooperative_groups.h>

#include <cstdint>

namespace tessera::cuda {

/// Where a block's tile goes.
template <class T>
struct TileTarget {
  using S = Scalar<T>;
  Elements<T> c, d;  ///< at the tile's first element
  std::int64_t ldc, ldd;
  int rows, columns;  ///< that exist
  Epilogue<T> epilogue;
  bool complete;  ///< D gets the bias and the activation, too: false for the sums of a slice

  /// Whether segments of so many neighbours can be accessed at once.
  template <int kWidth>
  __device__ bool aligned() const {
    const bool aligned_c = c.template at_vector<kWidth>() && ldc % kWidth == 0;
    return d.template at_vector<kWidth>() && ldd % kWidth == 0 && columns % kWidth == 0 &&
           (aligned_c || !epilogue.reads_c());
  }
  template <int kWidth>
  __device__ __forceinline__ Vector<S, kWidth> combined(int row, int column, const Vector<S, kWidth>& sums) const {
    return epilogue(sums, c + (row * ldc + column));
  }
  template <int kWidth>
  __device__ __forceinline__ void store(int row, int column, const Vector<S, kWidth>& values) const {
    (d + (row * ldd + column)).write(values);
  }
  /// Writes sums of neighbours in a row, without bias and activation.
  template <int kWidth>
  __device__ __forceinline__ void write(int row, int column, const Vector<S, kWidth>& sums) const {
    if (row >= rows || column >= columns) return;
    store(row, column, combined(row, column, sums));
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

/// Writes a thread's sums from its registers, in segments of whole sectors where D is aligned to them.
template <class Core>
__device__ __forceinline__ void write_sums(const Core& core, const TileTarget<typename Core::T>& target) {
#pragma unroll
  for (int segment = 0; segment < Core::kSegments; ++segment) {
    Vector<typename Core::Sum, Core::kSegmentWidth> sums;
#pragma unroll
    for (int e = 0; e < Core::kSegmentWidth; ++e) sums.value[e] = core.element(segment, e);
    target.write(core.row(segment), core.column(segment), sums);
  }
}

/// Puts a thread's sums into the block's tile in shared memory. `one`: 1, unknown to the compiler. A vector store
/// of the sums themselves would tie them to neighbouring registers in the main loop, where multiply-adds then find
/// their operands in one bank of the register file: 8 % of its time.
template <class Core, int kPitch>
__device__ __forceinline__ void store_tile(const Core& core, typename Core::Sum* tile, typename Core::Sum one) {
  constexpr int kWidth = Core::kSegmentWidth;
  using Segment = Vector<typename Core::Sum, kWidth>;
#pragma unroll
  for (int segment = 0; segment < Core::kSegments; ++segment) {
    Segment sums;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sums.value[e] = core.element(segment, e) * one;
    *reinterpret_cast<Segment*>(tile + core.row(segment) * kPitch + core.column(segment)) = sums;
  }
}

/// Who holds sums of a tile: the block alone, or a cluster's blocks, of other slices each.
template <bool kCluster>
struct TileSharers {
  int blocks, rank;

  __device__ explicit TileSharers(int count) : blocks(kCluster ? count : 1), rank(0) {
#if __CUDA_ARCH__ >= 900
    if constexpr (kCluster) rank = int(cooperative_groups::this_cluster().block_rank());
#endif
  }

  /// The sums of neighbours at a place of the tile in shared memory, added in the order of the slices.
  template <int kWidth, class S>
  __device__ __forceinline__ Vector<S, kWidth> sums_at(const S* place) const {
    using Segment = Vector<S, kWidth>;
#if __CUDA_ARCH__ >= 900
    if (kCluster && blocks > 1) {
      Segment sums{};
      for (int slice = 0; slice < blocks; ++slice) {
        const auto* const there = cooperative_groups::this_cluster().map_shared_rank(place, unsigned(slice));
        const Segment part = *reinterpret_cast<const Segment*>(there);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) sums.value[e] += part.value[e];
      }
      return sums;
    }
#endif
    return *reinterpret_cast<const Segment*>(place);
  }
};

/// Writes the tile in shared memory row by row, kWidth neighbours a thread. A cluster's blocks each take a share of the
/// segments.
template <class Core, int kPitch, bool kCluster, int kWidth>
__device__ __forceinline__ void write_tile(const typename Core::Sum* tile, const TileSharers<kCluster>& sharers,
                                           const TileTarget<typename Core::T>& target) {
  constexpr int kAcross = Core::kN / kWidth, kSegments = Core::kM * kAcross;
#pragma unroll 4
  for (int segment = sharers.rank * Core::kThreads + int(threadIdx.x); segment < kSegments;
       segment += sharers.blocks * Core::kThreads) {
    const int row = segment / kAcross, column = segment % kAcross * kWidth;
    target.write(row, column, sharers.template sums_at<kWidth>(tile + row * kPitch + column));
  }
}

/// The same with bias and activation, if any, of the part of D that `finish` is of. Not unrolled: the code is as long
/// as that of many products.
template <class Core, int kPitch, bool kCluster, int kWidth>
__device__ __forceinline__ void write_finished(const typename Core::Sum* tile, const TileSharers<kCluster>& sharers,
                                               const TileTarget<typename Core::T>& target,
                                               const Finish<typename Core::T>& finish) {
  using Sum = typename Core::Sum;
  constexpr int kAcross = Core::kN / kWidth < Core::kThreads ? Core::kN / kWidth : Core::kThreads;
  constexpr int kRows = Core::kThreads / kAcross;  // that the block's threads take at once
  static_assert(Core::kThreads % kAcross == 0);
  const int first_row = sharers.rank * kRows + int(threadIdx.x) / kAcross, rows_apart = sharers.blocks * kRows;
#pragma unroll 1
  for (int column = int(threadIdx.x) % kAcross * kWidth; column < target.columns; column += kAcross * kWidth) {
    Vector<Sum, kWidth> along{};  // the bias of the thread's columns
    if (finish.bias && !finish.per_row)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) along.value[e] = finish.bias_at(column + e);
#pragma unroll 1
    for (int row = first_row; row < target.rows; row += rows_apart) {
      auto values = target.combined(row, column, sharers.template sums_at<kWidth>(tile + row * kPitch + column));
      if (finish.bias) {
        const Sum of_row = finish.per_row ? finish.bias_at(row) : Sum(0);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) values.value[e] += finish.per_row ? of_row : along.value[e];
      }
      finish.activate_all(values.value);
      target.store(row, column, values);
    }
  }
}

/// Writes a block's tile. `shared` holds the operands that came last, and has room for kM rows of kPitch sums.
/// `one`: see store_tile(). `blocks`: that hold sums of it. `place`: of its first element in D. Bias and activation are
/// applied where kFinishes.
template <class Core, bool kCluster, bool kFinishes>
__device__ __forceinline__ void write_result(const Core& core, typename Core::Sum* shared, int blocks,
                                             typename Core::Sum one, const TileTarget<typename Core::T>& target,
                                             const GemmArguments<typename Core::T>& g, const GemmTile& place) {
  using T = typename Core::T;
  constexpr int kPitch = Core::kN + Core::kTilePad, kWidth = 16 / int(sizeof(typename Core::Sum));
  const bool aligned = target.template aligned<kWidth>();
  if constexpr (!kCluster && !kFinishes)
    if (aligned) return write_sums(core, target);
  // Single elements in the order of the registers would be parts of sectors, and take twice the time: they pass through
  // shared memory, where they overwrite what was read, and where the last copies, of zeros beyond the last tile, go.
  cp_async_wait<0>();
  __syncthreads();
  store_tile<Core, kPitch>(core, shared, one);
  synchronize_tile<kCluster>();
  const TileSharers<kCluster> sharers(blocks);
  if constexpr (kFinishes) {
    const Finish<T> finish = target.complete ? g.finish.at(place.batch, place.row, place.column) : Finish<T>{};
    if (aligned)
      write_finished<Core, kPitch, kCluster, kWidth>(shared, sharers, target, finish);
    else
      write_finished<Core, kPitch, kCluster, 1>(shared, sharers, target, finish);
  } else if (kCluster && aligned) {
    write_tile<Core, kPitch, kCluster, kWidth>(shared, sharers, target);
  } else {
    write_tile<Core, kPitch, kCluster, 1>(shared, sharers, target);
  }
  if constexpr (kCluster) synchronize_tile<kCluster>();  // nobody leaves while others read its sums
}

}  // namespace tessera::cuda
