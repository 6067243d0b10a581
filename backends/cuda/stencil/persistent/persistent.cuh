// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All steps of a domain of two axes in one launch. A block keeps a tile in its registers: a warp holds kRows rows of
/// 128 columns, kLaneColumns neighbouring ones a lane. In a step lanes exchange columns by shuffles, and warps exchange
/// their outer rows through shared memory. Tiles overlap. Blocks renew their halos through device memory after each
/// round of `depth` steps, for which a block waits for its neighbours alone.
#pragma once

#include "../../split_barrier.cuh"
#include "../temporal/temporal_row.cuh"
#include "persistent_halo.cuh"

#include <new>
#include <span>
#include <utility>

namespace tessera::cuda {

/// The outer rows of a thread on one side, or the rows of others behind them; in the order of the domain.
template <class S, class Taps>
using OuterRows = S[Taps::kRadius][kLaneColumns];

/// Which ends of the domain a thread's rows and columns touch.
struct TileEnds {
  bool any;                                             ///< the tile has an end of the domain
  bool low, high, first, last;                          ///< the thread's first, last column, its first, last row is one
  bool keeps_low, keeps_high, keeps_first, keeps_last;  ///< points there within the taps' reach keep their values

  template <class S>
  __device__ explicit TileEnds(const PersistentArguments<S>& g) {
    const int columns = g.column_tiling.count, column_tile = int(blockIdx.x) % columns,
              row_tile = int(blockIdx.x) / columns;
    const bool low_tile = g.column_tiling.ends_low(column_tile), high_tile = g.column_tiling.ends_high(column_tile);
    const bool first_tile = g.row_tiling.ends_low(row_tile), last_tile = g.row_tiling.ends_high(row_tile);
    any = low_tile || high_tile || first_tile || last_tile;
    low = low_tile && threadIdx.x == 0;
    high = high_tile && threadIdx.x == 31;
    first = first_tile && threadIdx.y == 0;
    last = last_tile && threadIdx.y == blockDim.y - 1;
    keeps_low = low && g.columns.mode[0] == TESSERA_BOUNDARY_FIXED;
    keeps_high = high && g.columns.mode[1] == TESSERA_BOUNDARY_FIXED;
    keeps_first = first && g.rows.mode[0] == TESSERA_BOUNDARY_FIXED;
    keeps_last = last && g.rows.mode[1] == TESSERA_BOUNDARY_FIXED;
  }
};

/// Where the warps of a block exchange their outer rows.
template <class S, class Taps>
class OuterExchange {
 public:
  /// Of a warp, in `rows`. Two buffers take turns, so that what is written next is not what slower warps still read.
  static constexpr int kElements = 2 * 2 * Taps::kRadius * kWarpColumns;

  __device__ OuterExchange(SplitBarrier& barrier, S* rows) : barrier_(barrier), rows_(rows) {
    if (threadIdx.x == 0 && threadIdx.y == 0) barrier_.init(blockDim.y);
    __syncthreads();
  }

  __device__ void publish(const OuterRows<S, Taps>& first, const OuterRows<S, Taps>& last) {
    parity_ ^= 1;
#pragma unroll
    for (int k = 0; k < Taps::kRadius; ++k) {
      copy_columns(first[k], slot(int(threadIdx.y), 0, k));
      copy_columns(last[k], slot(int(threadIdx.y), 1, k));
    }
    // One lane arrives for all. racecheck of compute-sanitizer does not see that __syncwarp() orders the others' writes
    // before that, and names them; it names nothing where every lane arrives.
    __syncwarp();
    if (threadIdx.x == 0) barrier_.arrive();
  }

  /// Until all warps have published theirs.
  __device__ void wait() { barrier_.wait(unsigned(parity_) ^ 1u); }

  /// The neighbours' rows of the last publish() of all warps. At the ends of the block they are arbitrary.
  __device__ void gather(OuterRows<S, Taps>& before, OuterRows<S, Taps>& behind) {
    wait();
    const int warp = int(threadIdx.y), warps = int(blockDim.y);
#pragma unroll
    for (int k = 0; k < Taps::kRadius; ++k) {
      copy_columns(slot(max(warp - 1, 0), 1, k), before[k]);
      copy_columns(slot(min(warp + 1, warps - 1), 0, k), behind[k]);
    }
  }

 private:
  __device__ RowVector<S>* slot(int warp, int side, int k) const {
    const int row = ((parity_ * int(blockDim.y) + warp) * 2 + side) * Taps::kRadius + k;
    return reinterpret_cast<RowVector<S>*>(rows_ + row * kWarpColumns) + threadIdx.x;
  }

  SplitBarrier& barrier_;
  S* rows_;
  int parity_ = 0;
};

/// The rows of a thread between those of its neighbours, with their halos.
template <class S, class Taps, int kRows>
using TileHaloRows = HaloRow<S, Taps>[kRows + 2 * Taps::kRadius];

/// Replaces the rows that lie outside a closed end.
template <class Taps, int kRows, class S>
__device__ __forceinline__ void apply_outer_boundary(const TemporalAxis<S>& axis, const TileEnds& at,
                                                     TileHaloRows<S, Taps, kRows>& rows) {
  constexpr int r = Taps::kRadius;
  const auto replace = [&](int side, int outside, int nearest, int reflect, int mirror) {
#pragma unroll
    for (int i = 0; i < kLaneColumns + 2 * r; ++i) {
      const S mapped = axis.mode[side] == TESSERA_BOUNDARY_NEAREST   ? rows[nearest].at[i]
                       : axis.mode[side] == TESSERA_BOUNDARY_REFLECT ? rows[reflect].at[i]
                                                                     : rows[mirror].at[i];
      rows[outside].at[i] = axis.mode[side] == TESSERA_BOUNDARY_CONSTANT ? axis.value[side] : mapped;
    }
  };
  constexpr int first = r, last = r + kRows - 1;
  if (at.first)
#pragma unroll
    for (int k = 0; k < r; ++k) replace(0, first - 1 - k, first, first + k, first + k + 1);
  if (at.last)
#pragma unroll
    for (int k = 0; k < r; ++k) replace(1, last + 1 + k, last, last - k, last - k - 1);
}

/// The new values of the thread's row j, rounded to those that elements T have.
template <class T, class Taps, bool kAtEnd, int kRows, class S>
__device__ __forceinline__ void compute_row(const PersistentArguments<S>& g, const TileEnds& at,
                                            const TileHaloRows<S, Taps, kRows>& halo, int j,
                                            S (&result)[kLaneColumns]) {
  constexpr int r = Taps::kRadius;
  S sum[kLaneColumns] = {};
#pragma unroll
  for (int dy = 0; dy <= 2 * r; ++dy)
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v)
#pragma unroll
      for (int dx = 0; dx <= 2 * r; ++dx)
        if (Taps::kBox || dy == r || dx == r) sum[v] = fma(g.coefficients[dy][dx], halo[j + dy].at[v + dx], sum[v]);
  round_values<T>(sum);
#pragma unroll
  for (int v = 0; v < kLaneColumns; ++v) {
    const bool keep = (v < r && at.keeps_low) || (v >= kLaneColumns - r && at.keeps_high);
    result[v] = kAtEnd && keep ? halo[j + r].at[r + v] : sum[v];
  }
}

/// The new values of the thread's outer rows.
template <class T, class Taps, bool kAtEnd, int kRows, class S>
__device__ __forceinline__ void compute_outer_rows(const PersistentArguments<S>& g, const TileEnds& at,
                                                   const TileHaloRows<S, Taps, kRows>& halo,
                                                   const TileRows<S, kRows>& rows, OuterRows<S, Taps>& first,
                                                   OuterRows<S, Taps>& last) {
  constexpr int r = Taps::kRadius;
#pragma unroll
  for (int k = 0; k < r; ++k) {
    compute_row<T, Taps, kAtEnd, kRows>(g, at, halo, k, first[k]);
    compute_row<T, Taps, kAtEnd, kRows>(g, at, halo, kRows - r + k, last[k]);
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) {
      if (kAtEnd && at.keeps_first) first[k][v] = rows[k][v];
      if (kAtEnd && at.keeps_last) last[k][v] = rows[kRows - r + k][v];
    }
  }
}

/// One step. The outer rows come first, and their new values go to the neighbours while the others are computed.
/// kAtEnd: the tile has an end of the domain; kReplaces: and points outside are read across one of the columns' axis.
template <class T, class Taps, bool kAtEnd, bool kReplaces, int kRows, class S>
__device__ __forceinline__ void persistent_step(const PersistentArguments<S>& g, const TileEnds& at,
                                                OuterExchange<S, Taps>& exchange, TileRows<S, kRows>& rows) {
  constexpr int r = Taps::kRadius;
  static_assert(kRows >= 2 * r);
  TileHaloRows<S, Taps, kRows> halo;
  const auto fill = [&](int j, const S(&row)[kLaneColumns], bool neighbours) {
    halo[j + r].fill(row, neighbours);
    if (kReplaces && neighbours) halo[j + r].apply_boundary(g.columns, at.low, at.high);
  };

  OuterRows<S, Taps> before, behind;
  exchange.gather(before, behind);
#pragma unroll
  for (int j = 0; j < kRows; ++j)  // with the neighbours' columns where the outer rows read them
    if (j < 2 * r || j >= kRows - 2 * r) fill(j, rows[j], Taps::kBox || j < r || j >= kRows - r);
#pragma unroll
  for (int k = 0; k < r; ++k) {
    fill(k - r, before[k], Taps::kBox);
    fill(kRows + k, behind[k], Taps::kBox);
  }
  if (kAtEnd) apply_outer_boundary<Taps, kRows>(g.rows, at, halo);

  OuterRows<S, Taps> first, last;
  compute_outer_rows<T, Taps, kAtEnd, kRows>(g, at, halo, rows, first, last);
  exchange.publish(first, last);

#pragma unroll
  for (int j = r; j < kRows - r; ++j) {
    if (j + r < kRows - r || Taps::kBox) fill(j + r, rows[j + r], Taps::kBox);
    if (!Taps::kBox) fill(j, rows[j], true);
    compute_row<T, Taps, kAtEnd, kRows>(g, at, halo, j, rows[j]);
  }
#pragma unroll
  for (int k = 0; k < r; ++k)
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) rows[k][v] = first[k][v], rows[kRows - r + k][v] = last[k][v];
}

/// `steps` steps of a tile.
template <class T, class Taps, bool kAtEnd, bool kReplaces, int kRows, class S>
__device__ __forceinline__ void persistent_steps(const PersistentArguments<S>& g, const TileEnds& at, int steps,
                                                 OuterExchange<S, Taps>& exchange, TileRows<S, kRows>& rows) {
#pragma unroll 1
  for (int step = 0; step < steps; ++step) persistent_step<T, Taps, kAtEnd, kReplaces, kRows>(g, at, exchange, rows);
}

template <class T, class Taps, int kRows>
__global__ void __launch_bounds__(32 * kPersistentMostWarps, 1)
    stencil_persistent_kernel(const __grid_constant__ PersistentArguments<Scalar<T>> g, const T* __restrict__ in,
                              T* __restrict__ out, Scalar<T>* exchange, std::uint32_t* flags) {
  using S = Scalar<T>;
  static_assert(kRows <= 32);
  constexpr int r = Taps::kRadius;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SplitBarrier barrier;
  __shared__ int neighbours[9];
  S* const outer_rows = reinterpret_cast<S*>(shared_bytes);
  HaloMap& map = reinterpret_cast<HaloMap*>(
      outer_rows + blockDim.y * OuterExchange<S, Taps>::kElements)[threadIdx.y * 32 + threadIdx.x];
  new (&map) HaloMap(g, kRows);
  find_neighbours(g, neighbours);
  OuterExchange<S, Taps> outer(barrier, outer_rows);
  const TileEnds ends(g);
  const bool replaces = ends.any && g.columns.closed() &&
                        (g.columns.mode[0] != TESSERA_BOUNDARY_FIXED || g.columns.mode[1] != TESSERA_BOUNDARY_FIXED);
  const std::uint32_t past = flags[blockIdx.x * kPersistentFlagStride];  // rounds: all blocks have done as many

  TileRows<S, kRows> rows;
  load_tile<T, kRows>(g, in, rows);
  for (int round = 0; round < g.rounds; ++round) {
    if (round > 0) {
      S* const arrays = exchange + (round & 1) * (int(gridDim.x) * g.row_tiling.size * kWarpColumns);
      publish_halo<S, kRows>(g, map, rows, arrays);
      wait_for_neighbours(neighbours, flags, past + std::uint32_t(round));
      gather_halo<S, kRows>(map, arrays, rows);
    }
    OuterRows<S, Taps> first, last;
#pragma unroll
    for (int k = 0; k < r; ++k)
#pragma unroll
      for (int v = 0; v < kLaneColumns; ++v) first[k][v] = rows[k][v], last[k][v] = rows[kRows - r + k][v];
    outer.publish(first, last);
    const int steps = g.depth - (round >= g.rounds - g.shallower ? 1 : 0);
    if (!ends.any)
      persistent_steps<T, Taps, false, false, kRows>(g, ends, steps, outer, rows);
    else if (!replaces)
      persistent_steps<T, Taps, true, false, kRows>(g, ends, steps, outer, rows);
    else
      persistent_steps<T, Taps, true, true, kRows>(g, ends, steps, outer, rows);
    outer.wait();  // nobody gathers what the last step published, but all must have arrived before the next round does
  }
  store_tile<T, kRows>(g, rows, out);
}

template <class T>
PersistentKernel<T> persistent_kernel(const TemporalTaps& taps, int rows) {
  using S = Scalar<T>;
  const auto find = [rows]<class Taps>(Taps) {
    constexpr std::span<const int> kList = persistent_rows<T>({2, Taps::kBox, Taps::kRadius});
    constexpr int kWarpBytes = persistent_warp_bytes(Taps::kRadius, sizeof(S));
    static_assert(kWarpBytes == OuterExchange<S, Taps>::kElements * int(sizeof(S)) + 32 * int(sizeof(HaloMap)));
    PersistentKernel<T> found{nullptr, kWarpBytes};
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((rows == kList[kIndex] ? void(found.function = stencil_persistent_kernel<T, Taps, kList[kIndex]>) : void()),
       ...);
    }
    (std::make_index_sequence<kList.size()>{});
    return found;
  };
  if (taps.box) return find(TapSet<1, true>{});
  return taps.radius == 1 ? find(TapSet<1, false>{}) : find(TapSet<2, false>{});
}

}  // namespace tessera::cuda
