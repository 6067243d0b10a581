// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The persistent algorithm's traffic with device memory: a tile is read and written once, and halos are exchanged
/// after each round.
#pragma once

#include "../row_vector.cuh"
#include "persistent_kernels.hpp"

#include <cstdint>

namespace tessera::cuda {

/// Rows of a thread, as values.
template <class S, int kRows>
using TileRows = S[kRows][kLaneColumns];

/// Where a thread's points lie in the domain.
struct TilePosition {
  int row_tile, column_tile;
  int row, column;  ///< the thread's first

  template <class S>
  __device__ TilePosition(const PersistentArguments<S>& g, int rows)
      : row_tile(int(blockIdx.x) / g.column_tiling.count),
        column_tile(int(blockIdx.x) % g.column_tiling.count),
        row(g.row_tiling.begin(row_tile) + int(threadIdx.y) * rows),
        column(g.column_tiling.begin(column_tile) + int(threadIdx.x) * kLaneColumns) {}
};

/// What a thread exchanges with other blocks. Each block publishes points of its tile in an array of its own. The map
/// lies in shared memory, since it would cost the steps registers.
struct HaloMap {
  unsigned published;   ///< rows, by bits, of which neighbours need points
  unsigned rows[3];     ///< rows that this tile needs and the tile before, this one, the tile behind owns
  unsigned columns[3];  ///< columns likewise
  int row_offsets[3];   ///< of the thread's first row in the array of such a tile
  int column_offsets[kLaneColumns];
  int vector;  ///< 4, 2 or 1: so many neighbouring columns have one owner and are aligned in its array

  template <class S>
  __device__ HaloMap(const PersistentArguments<S>& g, int thread_rows) {
    const TilePosition at(g, thread_rows);
    const int height = g.row_tiling.size;
    const unsigned shared_rows = find_owners(g.row_tiling, at.row_tile, at.row, thread_rows, rows);
    const unsigned shared_columns = find_owners(g.column_tiling, at.column_tile, at.column, kLaneColumns, columns);
    published = columns[1] == 0 ? 0 : shared_columns != 0 ? rows[1] : rows[1] & shared_rows;
#pragma unroll
    for (int side = 0; side < 3; ++side) {
      const int tile = g.row_tiling.neighbour(at.row_tile, side - 1);
      row_offsets[side] =
          (tile * g.column_tiling.count * height + at.row + g.row_tiling.shift(at.row_tile, side - 1)) * kWarpColumns;
    }
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) {
      const int side = columns[0] >> v & 1 ? -1 : columns[2] >> v & 1 ? 1 : 0;
      const int tile = g.column_tiling.neighbour(at.column_tile, side);
      column_offsets[v] = tile * height * kWarpColumns + at.column + v + g.column_tiling.shift(at.column_tile, side);
    }
    vector = are_vectors(4) ? 4 : are_vectors(2) ? 2 : 1;
  }

 private:
  __device__ bool are_vectors(int count) const {
    bool result = true;
    for (int v = 0; v < kLaneColumns; v += count) {
      result = result && column_offsets[v] % count == 0;
      for (const unsigned owned : columns) {
        const unsigned of_these = owned >> v & ((1u << count) - 1);
        result = result && (of_these == 0 || of_these == (1u << count) - 1);
      }
    }
    return result;
  }

  /// Returns which of the tile's own points a neighbour needs.
  __device__ static unsigned find_owners(const PersistentTiling& tiling, int tile, int first, int count,
                                         unsigned (&owners)[3]) {
    const int begin = tiling.own_begin(tile), end = tiling.own_end(tile);
    const int low = tiling.ends_low(tile) ? 0 : tiling.halo, high = tiling.ends_high(tile) ? 0 : tiling.halo;
    owners[0] = owners[1] = owners[2] = 0;
    unsigned shared = 0;
    for (int i = 0; i < count; ++i) {
      const int at = first + i;
      owners[0] |= unsigned(at >= begin - low && at < begin) << i;
      owners[1] |= unsigned(at >= begin && at < end) << i;
      owners[2] |= unsigned(at >= end && at < end + high) << i;
      shared |= unsigned(at < begin + low || at >= end - high) << i;
    }
    return shared & owners[1];
  }
};

__device__ __forceinline__ int wrapped(int index, int extent) { return (index % extent + extent) % extent; }

template <class T, int kRows>
__device__ __forceinline__ void load_tile(const PersistentArguments<Scalar<T>>& g, const T* in,
                                          TileRows<Scalar<T>, kRows>& rows) {
  const TilePosition at(g, kRows);
  std::int64_t columns[kLaneColumns];
#pragma unroll
  for (int v = 0; v < kLaneColumns; ++v) columns[v] = wrapped(at.column + v, g.columns.extent) * g.in_strides[1];
  int y = wrapped(at.row, g.rows.extent);
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    const T* const row = in + y * g.in_strides[0];
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) rows[j][v] = exact_value(row[columns[v]]);
    if (++y == g.rows.extent) y = 0;
  }
}

template <class T, int kRows>
__device__ __forceinline__ void store_tile(const PersistentArguments<Scalar<T>>& g,
                                           const TileRows<Scalar<T>, kRows>& rows, T* out) {
  const TilePosition at(g, kRows);
  const int row_begin = g.row_tiling.own_begin(at.row_tile), row_end = g.row_tiling.own_end(at.row_tile);
  const int column_begin = g.column_tiling.own_begin(at.column_tile),
            column_end = g.column_tiling.own_end(at.column_tile);
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    const int y = at.row + j;
    if (y < row_begin || y >= row_end) continue;
    T* const row = out + y * g.out_strides[0];
#pragma unroll
    for (int v = 0; v < kLaneColumns; ++v) {
      const int x = at.column + v;
      if (x >= column_begin && x < column_end) row[x * g.out_strides[1]] = element_of<T>(rows[j][v]);
    }
  }
}

/// Loads kCount neighbouring points where `needed` is not 0, past the first-level cache, which does not see what other
/// multiprocessors write. Aligned to as many points, at most 16 bytes.
template <int kCount>
__device__ __forceinline__ void load_if(unsigned needed, const float* from, float* row) {
  if constexpr (kCount == 4)
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4]; }"
                 : "+f"(row[0]), "+f"(row[1]), "+f"(row[2]), "+f"(row[3])
                 : "l"(from), "r"(needed)
                 : "memory");
  else if constexpr (kCount == 2)
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2]; }"
                 : "+f"(row[0]), "+f"(row[1])
                 : "l"(from), "r"(needed)
                 : "memory");
  else
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.gpu.global.f32 %0, [%1]; }"
                 : "+f"(row[0])
                 : "l"(from), "r"(needed)
                 : "memory");
}
template <int kCount>
__device__ __forceinline__ void load_if(unsigned needed, const double* from, double* row) {
#pragma unroll
  for (int v = 0; v < kCount / 2; ++v)
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2]; }"
                 : "+d"(row[2 * v]), "+d"(row[2 * v + 1])
                 : "l"(from + 2 * v), "r"(needed)
                 : "memory");
  if constexpr (kCount == 1)
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.gpu.global.f64 %0, [%1]; }"
                 : "+d"(row[0])
                 : "l"(from), "r"(needed)
                 : "memory");
}

/// Writes what neighbours need of the tile into the block's array.
template <class S, int kRows>
__device__ __forceinline__ void publish_halo(const PersistentArguments<S>& g, const HaloMap& map,
                                             const TileRows<S, kRows>& rows, S* arrays) {
  constexpr int kWidth = kVectorWidth<S>;
  const unsigned published = map.published;
  const int row = int(blockIdx.x) * g.row_tiling.size + int(threadIdx.y) * kRows;
  auto* const to = reinterpret_cast<RowVector<S>*>(arrays + row * kWarpColumns + int(threadIdx.x) * kLaneColumns);
#pragma unroll
  for (int j = 0; j < kRows; ++j)
    if (published & 1u << j)
#pragma unroll
      for (int part = 0; part < kLaneColumns / kWidth; ++part) {
        RowVector<S> vector;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) vector.value[i] = rows[j][part * kWidth + i];
        to[j * (kWarpColumns / kWidth) + part] = vector;
      }
}

/// Reads the halo that the tiles before this one (side 0), in the same rows (1) or behind it (2) own, kCount columns at
/// a time.
template <int kCount, class S, int kRows>
__device__ __forceinline__ void gather_side(const HaloMap& map, int side, const S* arrays, TileRows<S, kRows>& rows) {
  const unsigned columns = map.columns[0] | map.columns[2] | (side == 1 ? 0 : map.columns[1]);
#pragma unroll
  for (int v = 0; v < kLaneColumns; v += kCount) {
    const unsigned needed = columns >> v & 1 ? map.rows[side] : 0;
    const S* const from = arrays + (map.row_offsets[side] + map.column_offsets[v]);
#pragma unroll
    for (int j = 0; j < kRows; ++j) load_if<kCount>(needed & 1u << j, from + j * kWarpColumns, &rows[j][v]);
  }
}

/// Reads the tile's halo from the arrays of its neighbours.
template <class S, int kRows>
__device__ __forceinline__ void gather_halo(const HaloMap& map, const S* arrays, TileRows<S, kRows>& rows) {
#pragma unroll
  for (int side = 0; side < 3; ++side) {
    if (map.rows[side] == 0) continue;
    if (map.vector == 4)
      gather_side<4, S, kRows>(map, side, arrays, rows);
    else if (map.vector == 2)
      gather_side<2, S, kRows>(map, side, arrays, rows);
    else
      gather_side<1, S, kRows>(map, side, arrays, rows);
  }
}

__device__ __forceinline__ void release(std::uint32_t* flag, std::uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t acquire(const std::uint32_t* flag) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

/// Says that the block has published its halo of round `round`, and waits until all its neighbours have, too. Rounds
/// are counted from when the plan was made, modulo 2^32. A block that has passed has also seen that its neighbours have
/// gathered what they needed of the round before, so two sets of arrays are enough.
__device__ __forceinline__ void wait_for_neighbours(const int (&neighbours)[9], std::uint32_t* flags,
                                                    std::uint32_t round) {
  __syncthreads();
  if (threadIdx.y == 0 && threadIdx.x == 0) release(flags + blockIdx.x * kPersistentFlagStride, round);
  if (threadIdx.y == blockDim.y - 1 && threadIdx.x < 9) {
    const int other = neighbours[threadIdx.x];
    if (other >= 0)
      while (std::int32_t(acquire(flags + other * kPersistentFlagStride) - round) < 0) continue;
  }
  __syncthreads();
}

/// The blocks around one, itself in the middle; -1 where there is none.
template <class S>
__device__ __forceinline__ void find_neighbours(const PersistentArguments<S>& g, int (&neighbours)[9]) {
  if (threadIdx.y > 0 || threadIdx.x >= 9) return;
  const int columns = g.column_tiling.count;
  const int row_tile = g.row_tiling.neighbour(int(blockIdx.x) / columns, int(threadIdx.x) / 3 - 1);
  const int column_tile = g.column_tiling.neighbour(int(blockIdx.x) % columns, int(threadIdx.x) % 3 - 1);
  neighbours[threadIdx.x] = row_tile < 0 || column_tile < 0 ? -1 : row_tile * columns + column_tile;
}

}  // namespace tessera::cuda
