// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps in one pass over a domain of three axes (2.5D tiles). A block takes a tile of rows and columns and
/// sweeps along axis 0. A warp holds kRows neighbouring rows, kLaneColumns columns a lane, as in 2D, and a step keeps
/// the partial sums of the planes that it has begun, and rounds a plane as it completes it. Warps exchange their outer
/// rows through shared memory, with one barrier a step.
#pragma once

#include "temporal_row.cuh"

#include <type_traits>

namespace tessera::cuda {

/// The rows of a thread.
struct LaneRows {
  AxisTile tile;                 ///< of the block
  int row;                       ///< the thread's first
  bool low, high;                ///< its first, its last row ends the axis
  bool keeps_first, keeps_last;  ///< which keep their values

  template <class S>
  __device__ LaneRows(const TemporalArguments<S>& g, int index, int warps, int rows_per_warp)
      : tile(g.row_tiling.tile(index, g.row_tiles)),
        row(tile.begin + int(threadIdx.y) * rows_per_warp),
        low(tile.low && threadIdx.y == 0),
        high(tile.high && int(threadIdx.y) == warps - 1),
        keeps_first(low && g.rows.mode[0] == TESSERA_BOUNDARY_FIXED),
        keeps_last(high && g.rows.mode[1] == TESSERA_BOUNDARY_FIXED) {}
};

/// A thread's points of a plane, as values.
template <class S, int kRows>
using PlanePoints = S[kRows][kLaneColumns];

/// Partial sums of a step: those of the plane that the next one completes, and of the one behind.
template <class S, int kRows>
using PlaneSums = S[2][kRows][kLaneColumns];

/// The rows of a thread between those of its neighbours.
template <class S, class Taps, int kRows>
using HaloRows = HaloRow<S, Taps>[kRows + 2];

/// Where the warps of a block exchange their outer rows. Two buffers take turns, so that what is written next is not
/// what slower warps still read.
template <class S, int kWarps>
class RowExchange {
 public:
  static constexpr int kElements = 2 * kWarps * 2 * kWarpColumns;  ///< of `buffer`
  __device__ explicit RowExchange(S* buffer) : buffer_(buffer) {}

  /// Publishes the thread's first and last row, gathers the row before and the one behind. At the ends of the block
  /// these are arbitrary.
  __device__ void exchange(const S (&first)[kLaneColumns], const S (&last)[kLaneColumns], S (&before)[kLaneColumns],
                           S (&behind)[kLaneColumns]) {
    const int warp = int(threadIdx.y);
    copy_columns(first, slot(warp, 0));
    copy_columns(last, slot(warp, 1));
    __syncthreads();
    copy_columns(slot(max(warp - 1, 0), 1), before);
    copy_columns(slot(min(warp + 1, kWarps - 1), 0), behind);
    parity_ ^= 1;
  }

 private:
  __device__ RowVector<S>* slot(int warp, int side) const {
    return reinterpret_cast<RowVector<S>*>(buffer_ + ((parity_ * kWarps + warp) * 2 + side) * kWarpColumns) +
           threadIdx.x;
  }

  S* buffer_;
  int parity_ = 0;
};

/// Replaces the rows that lie outside a closed end.
template <class Taps, int kRows, class S>
__device__ __forceinline__ void apply_row_boundary(const TemporalAxis<S>& axis, const LaneRows& rows,
                                                   HaloRows<S, Taps, kRows>& halo) {
  const auto replace = [&](int side, bool here, const HaloRow<S, Taps>& edge, const HaloRow<S, Taps>& inner,
                           HaloRow<S, Taps>& outside) {
#pragma unroll
    for (int i = 0; i < kLaneColumns + 2 * Taps::kRadius; ++i) {
      const S mapped = axis.mode[side] == TESSERA_BOUNDARY_MIRROR ? inner.at[i] : edge.at[i];
      const S value = axis.mode[side] == TESSERA_BOUNDARY_CONSTANT ? axis.value[side] : mapped;
      outside.at[i] = here ? value : outside.at[i];
    }
  };
  if (rows.tile.low) replace(0, rows.low, halo[1], halo[2], halo[0]);
  if (rows.tile.high) replace(1, rows.high, halo[kRows], halo[kRows - 1], halo[kRows + 1]);
}

/// Adds the taps that read a plane, at one offset on axis 0 (`centre`: 0), to the sums of the plane at the opposite
/// offset.
template <class Taps, int kRows, class S>
__device__ __forceinline__ void add_plane(const S (&coefficients)[kTemporalSpan][kTemporalSpan], bool centre,
                                          const HaloRows<S, Taps, kRows>& halo, PlanePoints<S, kRows>& sum) {
#pragma unroll
  for (int j = 0; j < kRows; ++j)
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v)
#pragma unroll
      for (int row = 0; row < 3; ++row)
#pragma unroll
        for (int column = 0; column < 3; ++column) {
          const int distance = (centre ? 0 : 1) + (row != 1 ? 1 : 0) + (column != 1 ? 1 : 0);
          if (Taps::kBox || distance <= 1)
            sum[j][v] = fma(coefficients[row][column], halo[j + row].at[v + column], sum[j][v]);
        }
}

/// Adds the taps that leave the domain across an end of axis 0. `k`: the plane's sum.
template <class Taps, int kRows, class S>
__device__ __forceinline__ void add_planes_outside(const TemporalArguments<S>& g, int k, int arriving, unsigned ends,
                                                   const HaloRows<S, Taps, kRows>& halo, PlanePoints<S, kRows>& sum) {
#pragma unroll 1
  for (int offset = -1; offset <= 1; ++offset) {
    if (!(ends & SweepEnds::outside(k, offset))) continue;
    const S(&coefficients)[kTemporalSpan][kTemporalSpan] = g.coefficients[offset + 1];
    const int read = arriving - 1 + k + offset;
    if (!g.sweep.constant(read)) {
      add_plane<Taps, kRows>(coefficients, false, halo, sum);
      continue;
    }
    S constant = 0;
#pragma unroll
    for (int row = 0; row < 3; ++row)
#pragma unroll
      for (int column = 0; column < 3; ++column)
        if (Taps::kBox || (row == 1 && column == 1))
          constant = fma(coefficients[row][column], g.sweep.value[read < 0 ? 0 : 1], constant);
#pragma unroll
    for (auto& points : sum)
#pragma unroll
      for (S& point : points) point += constant;
  }
}

/// Gathers the thread's plane with the rows and columns around it, as the taps read them.
template <class Taps, bool kAtSide, int kRows, int kWarps, class S>
__device__ __forceinline__ void gather_plane(const TemporalArguments<S>& g, const LaneColumns& lane,
                                             const LaneRows& rows, RowExchange<S, kWarps>& exchange,
                                             const PlanePoints<S, kRows>& plane, HaloRows<S, Taps, kRows>& halo) {
  S before[kLaneColumns], behind[kLaneColumns];
  exchange.exchange(plane[0], plane[kRows - 1], before, behind);
  halo[0].fill(before, Taps::kBox);
#pragma unroll
  for (int j = 0; j < kRows; ++j) halo[j + 1].fill(plane[j], true);
  halo[kRows + 1].fill(behind, Taps::kBox);
  if constexpr (kAtSide) {
    if (lane.tile.low || lane.tile.high)
#pragma unroll
      for (auto& row : halo) row.apply_boundary(g.columns, lane.low, lane.high);
    apply_row_boundary<Taps, kRows>(g.rows, rows, halo);
  }
}

/// One step takes plane `arriving` of the step before, adds it to all sums, and produces the plane that this completes,
/// the one before it of its own. kAtSide: the tile has an end of the rows' or the columns' axis; kNearEnd: an end of
/// axis 0 may be near. T: the type of elements.
template <class T, class Taps, bool kAtSide, bool kNearEnd, int kRows, int kWarps, class S>
__device__ __forceinline__ void tile25d_step(const TemporalArguments<S>& g, const LaneColumns& lane,
                                             const LaneRows& rows, int arriving, RowExchange<S, kWarps>& exchange,
                                             PlaneSums<S, kRows>& sums, PlanePoints<S, kRows>& plane) {
  if (kNearEnd && g.sweep.closed()) {
    if (arriving < 0) return;          // there is no such plane
    if (arriving >= g.sweep.extent) {  // nor such a plane, but the last sums are complete
#pragma unroll
      for (int j = 0; j < kRows; ++j)
#pragma unroll
        for (int v = 0; v < kLaneColumns; ++v) plane[j][v] = round_keeping_nan<T>(sums[0][j][v]);
      return;
    }
  }
  HaloRows<S, Taps, kRows> halo;
  gather_plane<Taps, kAtSide, kRows, kWarps>(g, lane, rows, exchange, plane, halo);
  const unsigned ends = kNearEnd && !g.sweep.inner(arriving) ? g.ends.at(arriving, g.sweep.extent) : 0;
#pragma unroll
  for (int k = 0; k <= 2; ++k) {
    PlanePoints<S, kRows> sum;
    const bool frozen = k < 2 && (ends & SweepEnds::frozen(k));
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int v = 0; v < kLaneColumns; ++v)
        sum[j][v] = k == 2 ? S(0) : k == 1 && frozen ? halo[j + 1].at[v + 1] : sums[k % 2][j][v];
    if (!frozen) {
      add_plane<Taps, kRows>(g.coefficients[2 - k], k == 1, halo, sum);
      if (ends & SweepEnds::outside(k)) add_planes_outside<Taps, kRows>(g, k, arriving, ends, halo, sum);
      if (k == 0)
#pragma unroll
        for (auto& row : sum) round_values<T>(row);
    }
    // A point that keeps its value takes it from its own plane, and nothing from the one behind.
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int v = 0; v < kLaneColumns; ++v) {
        const bool keep = (v == 0 && lane.keeps_low) || (v == kLaneColumns - 1 && lane.keeps_high) ||
                          (j == 0 && rows.keeps_first) || (j == kRows - 1 && rows.keeps_last);
        if (kAtSide && k < 2 && keep) sum[j][v] = k == 0 ? sums[0][j][v] : halo[j + 1].at[v + 1];
        (k == 0 ? plane[j][v] : sums[k == 0 ? 0 : k - 1][j][v]) = sum[j][v];
      }
  }
}

template <class T, class Taps, int kWarps, int kRows, int kDepth>
__device__ __forceinline__ void temporal_tile25d(const TemporalArguments<Scalar<T>>& g, const T* source, T* target,
                                                 unsigned char* shared) {
  using S = Scalar<T>;
  using Loader = PlaneLoader<T, kRows, kTile25dStages>;
  const unsigned tile = blockIdx.x / unsigned(g.column_tiles), chunk = tile / unsigned(g.row_tiles);
  const LaneColumns lane(g, int(blockIdx.x % unsigned(g.column_tiles)));
  const LaneRows rows(g, int(tile % unsigned(g.row_tiles)), kWarps, kRows);
  const bool vectors = g.target_vectors && lane.aligned();
  const SweepRange range(g, int(chunk), g.depth, 1);
  int i = range.begin, out = range.out;
  Loader loader(g, lane, source, rows.row, i, range.load_end(g),
                reinterpret_cast<T*>(shared) + threadIdx.y * Loader::kElements);
  RowExchange<S, kWarps> exchange(reinterpret_cast<S*>(shared + kWarps * Loader::kElements * int(sizeof(T))));
  T* to = target + out * g.target_strides[0] + rows.row * g.target_strides[1];
  PlaneSums<S, kRows> sums[kDepth] = {};

  const auto advance = [&]<bool kAtSide, bool kNearEnd>(std::bool_constant<kAtSide>, std::bool_constant<kNearEnd>) {
    PlanePoints<S, kRows> plane;
    loader.template next<kAtSide || kNearEnd>(plane);
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      if (step >= g.depth) break;
      tile25d_step<T, Taps, kAtSide, kNearEnd, kRows, kWarps>(g, lane, rows, i - step, exchange, sums[step], plane);
    }
    if (i - g.depth >= out) {
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        if (rows.row + j >= rows.tile.write_begin && rows.row + j < rows.tile.write_end)
          store_row(g, lane, vectors, plane[j], to + j * g.target_strides[1]);
      to += g.target_strides[0];
      ++out;
    }
    ++i;
  };
  // Three loops, so that most tiles run code without boundaries.
  constexpr std::true_type yes{};
  constexpr std::false_type no{};
  while (i < range.end) {
    if (i < range.inner_begin || i >= range.inner_end) {
      advance(yes, yes);
    } else if (lane.tile.low || lane.tile.high || rows.tile.low || rows.tile.high) {
#pragma unroll 1
      while (i < range.inner_end) advance(yes, no);
    } else {
#pragma unroll 1
      while (i < range.inner_end) advance(no, no);
    }
  }
}

template <class T, class Taps>
inline constexpr TemporalTuning kTile25dTuning = temporal_tuning<T>({3, Taps::kBox, Taps::kRadius});

template <class T, class Taps>
__global__ void __launch_bounds__(32 * kTile25dTuning<T, Taps>.warps, (kTile25dTuning<T, Taps>.blocks_per_sm))
    stencil_temporal_tile25d_kernel(const __grid_constant__ TemporalArguments<Scalar<T>> g,
                                    const T* __restrict__ source, T* __restrict__ target) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr TemporalTuning tuning = kTile25dTuning<T, Taps>;
  temporal_tile25d<T, Taps, tuning.warps, tuning.rows, tuning.depth>(g, source, target, shared_bytes);
}

template <class T>
TemporalKernels<T> tile25d_kernels(const TemporalTaps& taps) {
  const auto kernels = []<class Taps>(Taps) {
    constexpr TemporalTuning tuning = kTile25dTuning<T, Taps>;
    constexpr int kBytes = tuning.warps * PlaneLoader<T, tuning.rows, kTile25dStages>::kElements * int(sizeof(T)) +
                           RowExchange<Scalar<T>, tuning.warps>::kElements * int(sizeof(Scalar<T>));
    static_assert(kBytes == tile25d_bytes(tuning, sizeof(T), sizeof(Scalar<T>)));
    const auto kernel = stencil_temporal_tile25d_kernel<T, Taps>;
    return TemporalKernels<T>{kernel, kernel, dim3(32, tuning.warps), kBytes};
  };
  return taps.box ? kernels(TapSet<1, true>{}) : kernels(TapSet<1, false>{});
}

}  // namespace tessera::cuda
