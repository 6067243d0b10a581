// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a block's tile become elements of D: from registers, or through shared memory.
#pragma once

#include "../cp_async.cuh"
#include "slices.cuh"

#include <cooperative_groups.h>

#include <cstdint>

namespace tessera::cuda {

/// Where a block's tile goes, for plain() arguments and the sums of slices: D is C.
template <class T>
struct PlainTarget {
  T* d;  ///< the tile's first element
  std::int64_t ldd;
  int rows, columns;  ///< that exist
  Epilogue<T> epilogue;

  /// Whether segments of so many neighbours can be accessed at once.
  template <int kWidth>
  __device__ __forceinline__ bool aligned() const {
    return reinterpret_cast<std::uintptr_t>(d) % sizeof(Vector<T, kWidth>) == 0 && ldd % kWidth == 0 &&
           columns % kWidth == 0;
  }
  /// Of C, neighbours in a row, if they exist and are asked for.
  template <int kWidth>
  __device__ __forceinline__ Vector<T, kWidth> read(int row, int column) const {
    if (!epilogue.reads_c() || row >= rows || column >= columns) return {};
    return *reinterpret_cast<const Vector<T, kWidth>*>(d + row * ldd + column);
  }
  /// Writes sums of neighbours, if they exist, with C at their place.
  template <int kWidth>
  __device__ __forceinline__ void write(int row, int column, const Vector<T, kWidth>& sums,
                                        const Vector<T, kWidth>& c) const {
    if (row < rows && column < columns)
      *reinterpret_cast<Vector<T, kWidth>*>(d + row * ldd + column) = epilogue(sums, c);
  }
};

/// The same for any arguments.
template <class T>
struct TileTarget {
  using S = Scalar<T>;
  Elements<T> c, d;  ///< at the tile's first element
  std::int64_t ldc, ldd;
  int rows, columns;  ///< that exist
  Epilogue<T> epilogue;
  bool complete;  ///< D gets the bias and the activation, too: false for the sums of a slice

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
  /// Of C, if it is read.
  template <int kWidth>
  __device__ __forceinline__ Vector<S, kWidth> read(int row, int column) const {
    if (!epilogue.reads_c()) return {};
    return (c + (row * ldc + column)).template read<kWidth>();
  }
  template <int kWidth>
  __device__ __forceinline__ void store(int row, int column, const Vector<S, kWidth>& values) const {
    (d + (row * ldd + column)).write(values);
  }
};

/// Where a tile's sums of a slice go: to D, or for a second kernel to the sums of slices. So many rows and columns
/// exist.
template <class T>
__device__ __forceinline__ TileTarget<T> target_of(const SlicedArguments<T>& x, const GemmTile& tile, unsigned slice,
                                                   int rows, int columns, bool to_partial) {
  const GemmArguments<T>& g = x.g;
  if (to_partial) {
    const std::int64_t ld = x.partial_ld, matrix = slice * g.batch + tile.batch;
    const auto sums = Elements<T>(x.partial, true) + ((matrix * g.m + tile.row) * ld + tile.column);
    return {sums, sums, ld, ld, rows, columns, Epilogue<T>(), false};
  }
  return {g.c + (tile.batch * g.stride_c + tile.row * g.ldc + tile.column),
          g.d + (tile.batch * g.stride_d + tile.row * g.ldd + tile.column),
          g.ldc,
          g.ldd,
          rows,
          columns,
          Epilogue<T>(g),
          true};
}

/// Has C of a tile come to the second-level cache, while products run that it will be added to.
template <int kThreads, class T>
__device__ __forceinline__ void prefetch_c(const GemmArguments<T>& g, const GemmTile& tile, int rows, int columns) {
  if (g.beta == Scalar<T>(0)) return;
  constexpr int kLine = 128;
  const Elements<T> c = g.c + (tile.batch * g.stride_c + tile.row * g.ldc + tile.column);
  const int size = c.wide() ? int(sizeof(Scalar<T>)) : int(sizeof(T)), last = columns * size - 1;
  const int lines = last / kLine + 2;  // rows begin anywhere in a line
#pragma unroll 1
  for (int i = int(threadIdx.x); i < rows * lines; i += kThreads) {
    const auto* const row = static_cast<const char*>((c + i / lines * g.ldc).data());
    prefetch_line(row + min(i % lines * kLine, last));
  }
}

/// Waits for all threads that hold sums of the tile, and sees what they wrote: the block's, or the cluster's.
template <bool kCluster>
__device__ __forceinline__ void synchronize_tile() {
#if __CUDA_ARCH__ >= 900
  if constexpr (kCluster) return cooperative_groups::this_cluster().sync();
#endif
  __syncthreads();
}

/// Of a thread's segments of C so many are read at a time: one after the other, each would wait for memory alone. With
/// more, multiply-adds of f32 find their operands in one bank of the register file.
template <class Core>
inline constexpr int kReadAhead = 16 / int(sizeof(typename Core::Sum));

/// Writes a thread's sums from its registers, in segments of whole sectors where D is aligned to them.
template <class Core>
__device__ __forceinline__ void write_sums(const Core& core, const PlainTarget<typename Core::T>& target) {
  constexpr int kWidth = Core::kSegmentWidth, kAhead = kReadAhead<Core>;
  static_assert(Core::kSegments % kAhead == 0);
  using Segment = Vector<typename Core::Sum, kWidth>;
#pragma unroll
  for (int first = 0; first < Core::kSegments; first += kAhead) {
    Segment c[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) c[i] = target.template read<kWidth>(core.row(first + i), core.column(first + i));
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      Segment sums;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sums.value[e] = core.element(first + i, e);
      target.write(core.row(first + i), core.column(first + i), sums, c[i]);
    }
  }
}

/// Puts a thread's sums into the block's tile in shared memory. `zero`: 0, unknown to the compiler. A vector store
/// of the sums themselves would tie them to neighbouring registers in the main loop, where multiply-adds then find
/// their operands in one bank of the register file: 8 % of its time. And -0 becomes +0, as by a step of k that is
/// filled up: tiles differ in that.
template <class Core, int kPitch>
__device__ __forceinline__ void store_tile(const Core& core, typename Core::Sum* tile, typename Core::Sum zero) {
  constexpr int kWidth = Core::kSegmentWidth;
  using Segment = Vector<typename Core::Sum, kWidth>;
#pragma unroll
  for (int segment = 0; segment < Core::kSegments; ++segment) {
    Segment sums;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sums.value[e] = core.element(segment, e) + zero;
    *reinterpret_cast<Segment*>(tile + core.row(segment) * kPitch + core.column(segment)) = sums;
  }
}

/// Who holds sums of a tile: the block alone, or a cluster's blocks, of other slices each. kMaybeAlone: a cluster may
/// be one block, whose sums are read sooner as its own.
template <bool kCluster, bool kMaybeAlone>
struct TileSharers {
  static constexpr bool kShares = kCluster;

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
    if (kCluster && !(kMaybeAlone && blocks == 1)) {
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
template <class Core, int kPitch, int kWidth, class Sharers>
__device__ __forceinline__ void write_tile(const typename Core::Sum* tile, const Sharers& sharers,
                                           const PlainTarget<typename Core::T>& target) {
  constexpr int kAcross = Core::kN / kWidth, kSegments = Core::kM * kAcross, kAhead = kReadAhead<Core>;
  const int apart = sharers.blocks * Core::kThreads;
#pragma unroll 1
  for (int first = sharers.rank * Core::kThreads + int(threadIdx.x); first < kSegments; first += kAhead * apart) {
    Vector<typename Core::Sum, kWidth> c[kAhead];
    const auto row = [&](int i) { return (first + i * apart) / kAcross; };
    const auto column = [&](int i) { return (first + i * apart) % kAcross * kWidth; };
#pragma unroll
    for (int i = 0; i < kAhead; ++i) c[i] = target.template read<kWidth>(row(i), column(i));
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      if (first + i * apart < kSegments)
        target.write(row(i), column(i), sharers.template sums_at<kWidth>(tile + row(i) * kPitch + column(i)), c[i]);
  }
}

/// The same with bias, activation and aux, if any, of the part of D that `finish` is of. Several rows at a time, so
/// that not each waits for C; but activations, whose code is as long as that of many products, one by one behind them:
/// they find their values in the tile, where nobody else reads a thread's segments.
template <class Core, int kPitch, int kWidth, class Sharers>
__device__ __forceinline__ void write_finished(typename Core::Sum* tile, const Sharers& sharers,
                                               const TileTarget<typename Core::T>& target,
                                               const Finish<typename Core::T>& finish) {
  using Sum = typename Core::Sum;
  using Segment = Vector<Sum, kWidth>;
  constexpr int kAcross = Core::kN / kWidth < Core::kThreads ? Core::kN / kWidth : Core::kThreads;
  constexpr int kRows = Core::kThreads / kAcross;  // that the block's threads take at once
  constexpr int kAhead = Core::template kRowsAhead<Sharers::kShares>;
  static_assert(Core::kThreads % kAcross == 0);
  const int first_row = sharers.rank * kRows + int(threadIdx.x) / kAcross, apart = sharers.blocks * kRows;
  const bool activates = finish.activation != TESSERA_ACTIVATION_NONE;
#pragma unroll 1
  for (int column = int(threadIdx.x) % kAcross * kWidth; column < target.columns; column += kAcross * kWidth) {
    Segment along{};  // the bias of the thread's columns
    if (finish.bias && !finish.per_row)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) along.value[e] = finish.bias_at(column + e);
#pragma unroll 1
    for (int first = first_row; first < target.rows; first += kAhead * apart) {
      Segment c[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i)
        if (first + i * apart < target.rows) c[i] = target.template read<kWidth>(first + i * apart, column);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int row = first + i * apart;
        if (row >= target.rows) continue;
        Sum* const place = tile + row * kPitch + column;
        Segment values = target.epilogue(sharers.template sums_at<kWidth>(place), c[i]);
        if (finish.bias) {
          const Sum of_row = finish.per_row ? finish.bias_at(row) : Sum(0);
#pragma unroll
          for (int e = 0; e < kWidth; ++e) values.value[e] += finish.per_row ? of_row : along.value[e];
        }
        if (activates)
          *reinterpret_cast<Segment*>(place) = values;
        else
          target.store(row, column, values);
      }
    }
#pragma unroll 1
    for (int row = first_row; activates && row < target.rows; row += apart) {
      Segment values = *reinterpret_cast<const Segment*>(tile + row * kPitch + column);
      finish.activate_at(row, column, values);
      target.store(row, column, values);
    }
  }
}

/// Puts a block's sums into `shared`, for all that hold sums of the tile. It holds the operands that came last, and has
/// room for kM rows of kPitch sums. `zero`: see store_tile().
template <bool kCluster, int kPitch, class Core>
__device__ __forceinline__ void share_tile(const Core& core, typename Core::Sum* shared, typename Core::Sum zero) {
  // They overwrite what was read, and where the last copies, of zeros beyond the last tile, go.
  cp_async_wait<0>();
  __syncthreads();
  store_tile<Core, kPitch>(core, shared, zero);
  synchronize_tile<kCluster>();
}

template <class Core>
inline constexpr int kResultPitch = Core::kN + Core::kTilePad;
/// Sums in 16 bytes.
template <class Core>
inline constexpr int kResultWidth = 16 / int(sizeof(typename Core::Sum));

/// Writes a block's tile. `blocks`: that hold sums of it; kCluster: they are a cluster.
template <class Core, bool kCluster>
__device__ __forceinline__ void write_plain(const Core& core, typename Core::Sum* shared, int blocks,
                                            typename Core::Sum zero, const PlainTarget<typename Core::T>& target) {
  constexpr int kPitch = kResultPitch<Core>, kWidth = kResultWidth<Core>;
  const bool aligned = target.template aligned<kWidth>();
  if (!kCluster && aligned) return write_sums(core, target);
  // Single elements in the order of the registers would be parts of sectors, and take twice the time.
  share_tile<kCluster, kPitch>(core, shared, zero);
  const TileSharers<kCluster, false> sharers(blocks);
  if (kCluster && aligned)
    write_tile<Core, kPitch, kWidth>(shared, sharers, target);
  else
    write_tile<Core, kPitch, 1>(shared, sharers, target);
  if constexpr (kCluster) synchronize_tile<kCluster>();  // nobody leaves while others read its sums
}

/// The same for any arguments. `place`: of the tile's first element in D. kCluster: `blocks` may be a cluster.
template <class Core, bool kCluster>
__device__ __forceinline__ void write_result(const Core& core, typename Core::Sum* shared, int blocks,
                                             typename Core::Sum zero, const TileTarget<typename Core::T>& target,
                                             const GemmArguments<typename Core::T>& g, const GemmTile& place) {
  using T = typename Core::T;
  constexpr int kPitch = kResultPitch<Core>, kWidth = kResultWidth<Core>;
  share_tile<kCluster, kPitch>(core, shared, zero);
  const TileSharers<kCluster, true> sharers(blocks);
  const Finish<T> finish = target.complete ? g.finish.at(place.batch, place.row, place.column) : Finish<T>{};
  const bool aligned = target.template aligned<kWidth>() && finish.template aligned<kWidth>();
  if (aligned)
    write_finished<Core, kPitch, kWidth>(shared, sharers, target, finish);
  else
    write_finished<Core, kPitch, 1>(shared, sharers, target, finish);
  if constexpr (kCluster) synchronize_tile<kCluster>();  // nobody leaves while others read its sums
}

}  // namespace tessera::cuda
