// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The resident algorithm's traffic with device memory: a tile is read and written once, and what tiles have in common
/// is exchanged after each round.
#pragma once

#include "persistent_kernels.hpp"
#include "../vector.cuh"

#include <cstdint>

namespace tessera::cuda {

/// Rows of a thread.
template <class T, int kRows>
using ResidentRows = T[kRows][kStripColumns];

/// Where a thread's points lie in the domain.
struct ResidentPlace {
  int tile, strip;
  int row, column;  ///< the thread's first

  template <class T>
  __device__ ResidentPlace(const ResidentArguments<T>& g, int rows)
      : tile(int(blockIdx.x) / g.column_cut.count),
        strip(int(blockIdx.x) % g.column_cut.count),
        row(g.row_cut.begin(tile) + int(threadIdx.y) * rows),
        column(g.column_cut.begin(strip) + int(threadIdx.x) * kStripColumns) {}
};

/// What a thread exchanges with other blocks. Each block has an array of its tile for what it gives. Kept in shared
/// memory, since it would cost the steps' registers.
struct Overlap {
  unsigned given;       ///< rows, by bits, of which neighbours need points
  unsigned rows[3];     ///< rows that the tile before, this one, the tile behind owns and this one needs
  unsigned columns[3];  ///< columns likewise
  int row_places[3];    ///< of the thread's first row, in the arrays of such a tile
  int column_places[kStripColumns];
  int together;  ///< of 4, 2 or 1 neighbouring columns each: they have one owner, in whose array they are a vector's

  template <class T>
  __device__ Overlap(const ResidentArguments<T>& g, int thread_rows) {
    const ResidentPlace at(g, thread_rows);
    const int height = g.row_cut.size;
    const unsigned shared_rows = sort(g.row_cut, at.tile, at.row, thread_rows, rows);
    const unsigned shared_columns = sort(g.column_cut, at.strip, at.column, kStripColumns, columns);
    given = columns[1] == 0 ? 0 : shared_columns != 0 ? rows[1] : rows[1] & shared_rows;
#pragma unroll
    for (int side = 0; side < 3; ++side) {
      const int tile = g.row_cut.neighbour(at.tile, side - 1);
      row_places[side] =
          (tile * g.column_cut.count * height + at.row + g.row_cut.shift(at.tile, side - 1)) * kStripWidth;
    }
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      const int side = columns[0] >> v & 1 ? -1 : columns[2] >> v & 1 ? 1 : 0;
      const int strip = g.column_cut.neighbour(at.strip, side);
      column_places[v] = strip * height * kStripWidth + at.column + v + g.column_cut.shift(at.strip, side);
    }
    together = go_together(4) ? 4 : go_together(2) ? 2 : 1;
  }

 private:
  __device__ bool go_together(int count) const {
    bool result = true;
    for (int v = 0; v < kStripColumns; v += count) {
      result = result && column_places[v] % count == 0;
      for (const unsigned owned : columns) {
        const unsigned of_these = owned >> v & ((1u << count) - 1);
        result = result && (of_these == 0 || of_these == (1u << count) - 1);
      }
    }
    return result;
  }

  /// Returns which of the piece's own points a neighbour needs.
  __device__ static unsigned sort(const ResidentCut& cut, int piece, int first, int count, unsigned (&owners)[3]) {
    const int from = cut.from(piece), to = cut.from(piece + 1);
    const int low = cut.ends_low(piece) ? 0 : cut.margin, high = cut.ends_high(piece) ? 0 : cut.margin;
    owners[0] = owners[1] = owners[2] = 0;
    unsigned shared = 0;
    for (int i = 0; i < count; ++i) {
      const int at = first + i;
      owners[0] |= unsigned(at >= from - low && at < from) << i;
      owners[1] |= unsigned(at >= from && at < to) << i;
      owners[2] |= unsigned(at >= to && at < to + high) << i;
      shared |= unsigned(at < from + low || at >= to - high) << i;
    }
    return shared & owners[1];
  }
};

__device__ __forceinline__ int wrapped(int index, int extent) { return (index % extent + extent) % extent; }

template <class T, int kRows>
__device__ __forceinline__ void load_tile(const ResidentArguments<T>& g, const T* in, ResidentRows<T, kRows>& rows) {
  const ResidentPlace at(g, kRows);
  std::int64_t columns[kStripColumns];
#pragma unroll
  for (int v = 0; v < kStripColumns; ++v) columns[v] = wrapped(at.column + v, g.columns.extent) * g.in_strides[1];
  int y = wrapped(at.row, g.rows.extent);
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    const T* const row = in + y * g.in_strides[0];
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) rows[j][v] = row[columns[v]];
    if (++y == g.rows.extent) y = 0;
  }
}

template <class T, int kRows>
__device__ __forceinline__ void store_tile(const ResidentArguments<T>& g, const ResidentRows<T, kRows>& rows, T* out) {
  const ResidentPlace at(g, kRows);
  const int row_begin = g.row_cut.from(at.tile), row_end = g.row_cut.from(at.tile + 1);
  const int column_begin = g.column_cut.from(at.strip), column_end = g.column_cut.from(at.strip + 1);
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    const int y = at.row + j;
    if (y < row_begin || y >= row_end) continue;
    T* const row = out + y * g.out_strides[0];
#pragma unroll
    for (int v = 0; v < kStripColumns; ++v) {
      const int x = at.column + v;
      if (x >= column_begin && x < column_end) row[x * g.out_strides[1]] = rows[j][v];
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
template <class T, int kRows>
__device__ __forceinline__ void give(const ResidentArguments<T>& g, const Overlap& mine,
                                     const ResidentRows<T, kRows>& rows, T* arrays) {
  using Vector = PointVector<T>;
  const unsigned given = mine.given;
  const int row = int(blockIdx.x) * g.row_cut.size + int(threadIdx.y) * kRows;
  Vector* const to = reinterpret_cast<Vector*>(arrays + row * kStripWidth + int(threadIdx.x) * kStripColumns);
#pragma unroll
  for (int j = 0; j < kRows; ++j)
    if (given & 1u << j)
#pragma unroll
      for (int part = 0; part < kStripColumns / Vector::kCount; ++part) {
        Vector vector;
#pragma unroll
        for (int i = 0; i < Vector::kCount; ++i) vector.at[i] = rows[j][part * Vector::kCount + i];
        to[j * (kStripWidth / Vector::kCount) + part] = vector;
      }
}

/// Reads what the tile needs of the tiles before it (side 0), beside it (1) or behind it (2), kCount columns at a time.
template <int kCount, class T, int kRows>
__device__ __forceinline__ void take_side(const Overlap& mine, int side, const T* arrays,
                                          ResidentRows<T, kRows>& rows) {
  const unsigned columns = mine.columns[0] | mine.columns[2] | (side == 1 ? 0 : mine.columns[1]);
#pragma unroll
  for (int v = 0; v < kStripColumns; v += kCount) {
    const unsigned taken = columns >> v & 1 ? mine.rows[side] : 0;
    const T* const from = arrays + (mine.row_places[side] + mine.column_places[v]);
#pragma unroll
    for (int j = 0; j < kRows; ++j) load_if<kCount>(taken & 1u << j, from + j * kStripWidth, &rows[j][v]);
  }
}

/// Reads what the tile needs of its neighbours.
template <class T, int kRows>
__device__ __forceinline__ void take(const Overlap& mine, const T* arrays, ResidentRows<T, kRows>& rows) {
#pragma unroll
  for (int side = 0; side < 3; ++side) {
    if (mine.rows[side] == 0) continue;
    if (mine.together == 4)
      take_side<4, T, kRows>(mine, side, arrays, rows);
    else if (mine.together == 2)
      take_side<2, T, kRows>(mine, side, arrays, rows);
    else
      take_side<1, T, kRows>(mine, side, arrays, rows);
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

/// Says that the block has given what it has to in round `round`, and waits until all its neighbours have, too. Rounds
/// are counted from when the plan was made, modulo 2^32. A block that has passed has also seen that its neighbours took
/// what they needed of the round before, so two turns of the arrays are enough.
__device__ __forceinline__ void meet_neighbours(const int (&neighbours)[9], std::uint32_t* flags, std::uint32_t round) {
  __syncthreads();
  if (threadIdx.y == 0 && threadIdx.x == 0) release(flags + blockIdx.x * kResidentFlagStride, round);
  if (threadIdx.y == blockDim.y - 1 && threadIdx.x < 9) {
    const int other = neighbours[threadIdx.x];
    if (other >= 0)
      while (std::int32_t(acquire(flags + other * kResidentFlagStride) - round) < 0) continue;
  }
  __syncthreads();
}

/// The blocks around one, itself in the middle; -1 where there is none.
template <class T>
__device__ __forceinline__ void find_neighbours(const ResidentArguments<T>& g, int (&neighbours)[9]) {
  if (threadIdx.y > 0 || threadIdx.x >= 9) return;
  const int strips = g.column_cut.count;
  const int tile = g.row_cut.neighbour(int(blockIdx.x) / strips, int(threadIdx.x) / 3 - 1);
  const int strip = g.column_cut.neighbour(int(blockIdx.x) % strips, int(threadIdx.x) % 3 - 1);
  neighbours[threadIdx.x] = tile < 0 || strip < 0 ? -1 : tile * strips + strip;
}

}  // namespace tessera::cuda
