// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All steps of a domain of two axes in one launch. A block keeps a tile in its registers: a warp kRows rows of 128
/// columns, kStripColumns neighbouring ones a lane. In a step lanes hand each other columns by shuffles and warps hand
/// each other their outer rows through shared memory. Tiles overlap; blocks renew what overlaps through device memory
/// after each round of `depth` steps, for which a block waits for its neighbours alone.
#pragma once

#include "../../split_barrier.cuh"
#include "persistent_halo.cuh"
#include "../temporal/temporal_row.cuh"

#include <new>
#include <span>
#include <utility>

namespace tessera::cuda {

/// The outer rows of a thread on one side, or the rows of others behind them; in the order of the domain.
template <class T, class Taps>
using OuterRows = T[Taps::kRadius][kStripColumns];

/// Which ends of the domain a thread's rows and columns meet.
struct ResidentEnds {
  bool any;                                             ///< the tile has an end of the domain
  bool low, high, first, last;                          ///< the thread's first, last column, its first, last row is one
  bool keeps_low, keeps_high, keeps_first, keeps_last;  ///< points there within the taps' reach keep their values

  template <class T>
  __device__ explicit ResidentEnds(const ResidentArguments<T>& g) {
    const int strips = g.column_cut.count, strip = int(blockIdx.x) % strips, tile = int(blockIdx.x) / strips;
    const bool low_strip = g.column_cut.ends_low(strip), high_strip = g.column_cut.ends_high(strip);
    const bool low_tile = g.row_cut.ends_low(tile), high_tile = g.row_cut.ends_high(tile);
    any = low_strip || high_strip || low_tile || high_tile;
    low = low_strip && threadIdx.x == 0;
    high = high_strip && threadIdx.x == 31;
    first = low_tile && threadIdx.y == 0;
    last = high_tile && threadIdx.y == blockDim.y - 1;
    keeps_low = low && g.columns.mode[0] == TESSERA_BOUNDARY_FIXED;
    keeps_high = high && g.columns.mode[1] == TESSERA_BOUNDARY_FIXED;
    keeps_first = first && g.rows.mode[0] == TESSERA_BOUNDARY_FIXED;
    keeps_last = last && g.rows.mode[1] == TESSERA_BOUNDARY_FIXED;
  }
};

/// Where the warps of a block leave their outer rows for their neighbours.
template <class T, class Taps>
class OuterExchange {
 public:
  /// Of a warp, in `rows`: two turns, so that what is written next is not what slower warps still read.
  static constexpr int kElements = 2 * 2 * Taps::kRadius * kStripWidth;

  __device__ OuterExchange(SplitBarrier& barrier, T* rows) : barrier_(barrier), rows_(rows) {
    if (threadIdx.x == 0 && threadIdx.y == 0) barrier_.init(blockDim.y);
    __syncthreads();
  }

  __device__ void leave(const OuterRows<T, Taps>& first, const OuterRows<T, Taps>& last) {
    turn_ ^= 1;
#pragma unroll
    for (int k = 0; k < Taps::kRadius; ++k) {
      copy(first[k], place(int(threadIdx.y), 0, k));
      copy(last[k], place(int(threadIdx.y), 1, k));
    }
    // One lane arrives for all. racecheck of compute-sanitizer does not see that __syncwarp() orders the others' writes
    // before that, and names them; it names nothing where every lane arrives.
    __syncwarp();
    if (threadIdx.x == 0) barrier_.arrive();
  }

  /// Until all warps have left theirs.
  __device__ void wait() { barrier_.wait(unsigned(turn_) ^ 1u); }

  /// Of the last leave() of all warps. At the ends of the block: any.
  __device__ void fetch(OuterRows<T, Taps>& before, OuterRows<T, Taps>& behind) {
    wait();
    const int warp = int(threadIdx.y), warps = int(blockDim.y);
#pragma unroll
    for (int k = 0; k < Taps::kRadius; ++k) {
      copy(place(max(warp - 1, 0), 1, k), before[k]);
      copy(place(min(warp + 1, warps - 1), 0, k), behind[k]);
    }
  }

 private:
  using Vector = PointVector<T>;

  __device__ Vector* place(int warp, int side, int k) const {
    const int row = ((turn_ * int(blockDim.y) + warp) * 2 + side) * Taps::kRadius + k;
    return reinterpret_cast<Vector*>(rows_ + row * kStripWidth) + threadIdx.x;
  }
  __device__ static void copy(const T (&row)[kStripColumns], Vector* to) {
#pragma unroll
    for (int v = 0; v < kStripColumns; v += Vector::kCount) {
      Vector part;
#pragma unroll
      for (int i = 0; i < Vector::kCount; ++i) part.at[i] = row[v + i];
      to[v / Vector::kCount * 32] = part;
    }
  }
  __device__ static void copy(const Vector* from, T (&row)[kStripColumns]) {
#pragma unroll
    for (int v = 0; v < kStripColumns; v += Vector::kCount) {
      const Vector part = from[v / Vector::kCount * 32];
#pragma unroll
      for (int i = 0; i < Vector::kCount; ++i) row[v + i] = part.at[i];
    }
  }

  SplitBarrier& barrier_;
  T* rows_;
  int turn_ = 0;
};

/// Replaces the rows that lie outside a closed end. `rows` begin with those before the thread's.
template <class Taps, int kRows, class T>
__device__ __forceinline__ void mend_outer_rows(const TemporalAxis<T>& axis, const ResidentEnds& at,
                                                WideRow<T, Taps> (&rows)[kRows + 2 * Taps::kRadius]) {
  constexpr int r = Taps::kRadius;
  const auto replace = [&](int side, int outside, int nearest, int reflect, int mirror) {
#pragma unroll
    for (int i = 0; i < kStripColumns + 2 * r; ++i) {
      const T mapped = axis.mode[side] == TESSERA_BOUNDARY_NEAREST   ? rows[nearest].at[i]
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

/// One step. The outer rows come first, and their new values go to the neighbours while the others are computed.
/// kSides: the tile has an end of the domain; kMends: and points outside are read across one of the columns' axis.
template <class Taps, bool kSides, bool kMends, int kRows, class T>
__device__ __forceinline__ void resident_step(const ResidentArguments<T>& g, const ResidentEnds& at,
                                              OuterExchange<T, Taps>& exchange, ResidentRows<T, kRows>& rows) {
  constexpr int r = Taps::kRadius;
  static_assert(kRows >= 2 * r);
  WideRow<T, Taps> wide[kRows + 2 * r];
  const auto widen = [&](int j, const T(&row)[kStripColumns], bool neighbours) {
    wide[j + r].fill(row, neighbours);
    if (kMends && neighbours) wide[j + r].mend(g.columns, at.low, at.high);
  };
  const auto compute = [&](int j, T(&result)[kStripColumns]) {
    T sum[kStripColumns] = {};
#pragma unroll
    for (int dy = 0; dy <= 2 * r; ++dy)
#pragma unroll
      for (int v = 0; v < kStripColumns; ++v)
#pragma unroll
        for (int dx = 0; dx <= 2 * r; ++dx)
          if (Taps::kBox || dy == r || dx == r) sum[v] = fma(g.coefficients[dy][dx], wide[j + dy].at[v + dx], sum[v]);
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      const bool keep = (v < r && at.keeps_low) || (v >= kStripColumns - r && at.keeps_high);
      result[v] = kSides && keep ? wide[j + r].at[r + v] : sum[v];
    }
  };

  T before[r][kStripColumns], behind[r][kStripColumns];
  exchange.fetch(before, behind);
#pragma unroll
  for (int j = 0; j < kRows; ++j)  // neighbours' columns of those rows alone that the outer ones read them of
    if (j < 2 * r || j >= kRows - 2 * r) widen(j, rows[j], Taps::kBox || j < r || j >= kRows - r);
#pragma unroll
  for (int k = 0; k < r; ++k) {
    widen(k - r, before[k], Taps::kBox);
    widen(kRows + k, behind[k], Taps::kBox);
  }
  if (kSides) mend_outer_rows<Taps, kRows>(g.rows, at, wide);

  T first[r][kStripColumns], last[r][kStripColumns];
#pragma unroll
  for (int k = 0; k < r; ++k) {
    compute(k, first[k]);
    compute(kRows - r + k, last[k]);
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      if (kSides && at.keeps_first) first[k][v] = rows[k][v];
      if (kSides && at.keeps_last) last[k][v] = rows[kRows - r + k][v];
    }
  }
  exchange.leave(first, last);

#pragma unroll
  for (int j = r; j < kRows - r; ++j) {
    if (j + r < kRows - r || Taps::kBox) widen(j + r, rows[j + r], Taps::kBox);
    if (!Taps::kBox) widen(j, rows[j], true);
    compute(j, rows[j]);
  }
#pragma unroll
  for (int k = 0; k < r; ++k)
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) rows[k][v] = first[k][v], rows[kRows - r + k][v] = last[k][v];
}

/// Dynamic shared memory of a warp.
template <class T, class Taps>
inline constexpr int kResidentWarpBytes = OuterExchange<T, Taps>::kElements* int(sizeof(T)) + 32 * int(sizeof(Overlap));

template <class T, class Taps, int kRows>
__global__ void __launch_bounds__(32 * kResidentMostWarps, 1)
    stencil_resident_kernel(const __grid_constant__ ResidentArguments<T> g, const T* __restrict__ in,
                            T* __restrict__ out, T* exchange, std::uint32_t* flags) {
  static_assert(kRows <= 32);
  constexpr int r = Taps::kRadius;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SplitBarrier barrier;
  __shared__ int neighbours[9];
  T* const outer_rows = reinterpret_cast<T*>(shared_bytes);
  Overlap& mine = reinterpret_cast<Overlap*>(
      outer_rows + blockDim.y * OuterExchange<T, Taps>::kElements)[threadIdx.y * 32 + threadIdx.x];
  new (&mine) Overlap(g, kRows);
  find_neighbours(g, neighbours);
  OuterExchange<T, Taps> outer(barrier, outer_rows);
  const ResidentEnds ends(g);
  const bool mends = ends.any && g.columns.closed() &&
                     (g.columns.mode[0] != TESSERA_BOUNDARY_FIXED || g.columns.mode[1] != TESSERA_BOUNDARY_FIXED);
  const std::uint32_t past = flags[blockIdx.x * kResidentFlagStride];  // rounds: equally many of all blocks

  ResidentRows<T, kRows> rows;
  load_tile<T, kRows>(g, in, rows);
  for (int round = 0; round < g.rounds; ++round) {
    if (round > 0) {
      T* const arrays = exchange + (round & 1) * (int(gridDim.x) * g.row_cut.size * kStripWidth);
      give<T, kRows>(g, mine, rows, arrays);
      meet_neighbours(neighbours, flags, past + std::uint32_t(round));
      take<T, kRows>(mine, arrays, rows);
    }
    T first[r][kStripColumns], last[r][kStripColumns];
#pragma unroll
    for (int k = 0; k < r; ++k)
#pragma unroll
      for (int v = 0; v < kStripColumns; ++v) first[k][v] = rows[k][v], last[k][v] = rows[kRows - r + k][v];
    outer.leave(first, last);
    const int steps = g.depth - (round >= g.rounds - g.shallower ? 1 : 0);
    if (!ends.any) {
#pragma unroll 1
      for (int step = 0; step < steps; ++step) resident_step<Taps, false, false, kRows>(g, ends, outer, rows);
    } else if (!mends) {
#pragma unroll 1
      for (int step = 0; step < steps; ++step) resident_step<Taps, true, false, kRows>(g, ends, outer, rows);
    } else {
#pragma unroll 1
      for (int step = 0; step < steps; ++step) resident_step<Taps, true, true, kRows>(g, ends, outer, rows);
    }
    outer.wait();  // nobody fetches what the last step left, but all must have arrived before the next round does
  }
  store_tile<T, kRows>(g, rows, out);
}

template <class T>
ResidentKernel<T> find_resident_kernel(const TemporalTaps& taps, int rows) {
  const auto find = [rows]<class Taps>(Taps) {
    constexpr std::span<const int> kList = resident_rows({2, Taps::kBox, Taps::kRadius}, sizeof(T) == 8);
    ResidentKernel<T> found{nullptr, kResidentWarpBytes<T, Taps>};
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((rows == kList[kIndex] ? void(found.function = stencil_resident_kernel<T, Taps, kList[kIndex]>) : void()), ...);
    }
    (std::make_index_sequence<kList.size()>{});
    return found;
  };
  if (taps.box) return find(TapSet<1, true>{});
  return taps.radius == 1 ? find(TapSet<1, false>{}) : find(TapSet<2, false>{});
}

}  // namespace tessera::cuda
