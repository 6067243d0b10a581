// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a warp, 16 rows, become elements of D: in pieces of some columns through shared memory, from where
/// rows are written in vectors.
#pragma once

#include "tile_writer.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"

#include <cstdint>

namespace tessera::cuda {

/// The bias of a warp's part of a tile, read before its sums are ready. By columns: lane l has columns l + 32 p. By
/// rows: each has those of its two rows.
template <int kPieces>
struct WarpgroupBias {
  float of[kPieces > 1 ? kPieces : 2];
};

template <class Shape, class T>
__device__ __forceinline__ WarpgroupBias<Shape::kN / 32> bias_of(const SlicedArguments<T>& x, const GemmTile& tile,
                                                                 int row) {
  WarpgroupBias<Shape::kN / 32> bias{};
  const GemmArguments<T>& g = x.g;
  if (!g.finish.bias) return bias;
  const int lane = int(threadIdx.x) % 32;
  const std::int64_t first = tile.row + row;
  const Finish<T> finish = g.finish.at(tile.batch, first, tile.column);
  if (finish.per_row) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (first + lane / 4 + 8 * half < g.m) bias.of[half] = finish.bias_at(lane / 4 + 8 * half);
  } else {
#pragma unroll
    for (int piece = 0; piece < Shape::kN / 32; ++piece)
      if (tile.column + 32 * piece + lane < g.n) bias.of[piece] = finish.bias_at(32 * piece + lane);
  }
  return bias;
}

/// Adds the bias to sums of 32 columns. `columns`: by columns that of the lane's.
template <class T>
__device__ __forceinline__ void add_bias(Scalar<T> (&values)[16], const Finish<T>& finish, const Scalar<T> (&rows)[2],
                                         Scalar<T> columns) {
  const int lane = int(threadIdx.x) % 32;
  if (finish.per_row) {
#pragma unroll
    for (int e = 0; e < 16; ++e) values[e] += rows[e / 2 % 2];
  } else {
#pragma unroll
    for (int e = 0; e < 16; e += 4)
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const Scalar<T> of_column = __shfl_sync(0xffffffffu, columns, e * 2 + lane % 4 * 2 + side);
        values[e + side] += of_column, values[e + side + 2] += of_column;
      }
  }
}

/// Where a warp's part of a tile goes, 16 rows.
template <class T>
struct WarpgroupPart {
  const WarpgroupArguments<T>& w;
  const GemmTile& tile;
  std::int64_t first;          ///< row
  int rows, columns;           ///< that exist, from the first on
  int slice;
};

/// Columns of 16 bits that a warp lays out at a time for bulk copies: rows of 64 columns have 128 bytes, whose 16-byte
/// parts are permuted as in operands.
template <int kN>
struct WarpgroupBoxes {
  static constexpr int kColumns = kN < 128 ? kN : 128;
  unsigned char* memory;

  /// A thread's sums of eight columns from `column` on: see add_products().
  template <class T>
  __device__ __forceinline__ void put(int column, const float* s) const {
    const int lane = int(threadIdx.x) % 32;
    unsigned char* const to = memory + column / 64 * WarpgroupTile::kBoxBytes + lane / 4 * 128 +
                              (column % 64 / 8 ^ lane / 4) * 16 + lane % 4 * 4;
    *reinterpret_cast<std::uint32_t*>(to) = detail::word_of(T{}, s[0], s[1]);
    *reinterpret_cast<std::uint32_t*>(to + 8 * 128) = detail::word_of(T{}, s[2], s[3]);
  }
  /// Before the next columns: copies have read the last ones.
  __device__ __forceinline__ void begin() const {
    if (threadIdx.x % 32 == 0) stores_wait_read();
    __syncwarp();
  }
  /// Lets them be copied to columns of D from `column` of the tile on.
  template <class T>
  __device__ __forceinline__ void end(const WarpgroupPart<T>& part, int column) const {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // bulk copies read by another way
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
#pragma unroll
    for (int box = 0; box < kColumns; box += 64)
      if (column + box < part.columns)
        store_box(part.w.d, shared_address(memory) + unsigned(box / 64 * WarpgroupTile::kBoxBytes),
                  int(part.tile.column) + column + box, int(part.first), int(part.tile.batch));
    stores_commit();
  }
};

/// D of f32 or the sums of a slice, in pairs: four threads write a sector.
struct WarpgroupPairs {
  float* data;  ///< of the thread's first row and columns
  std::int64_t ld;
  int rows, columns;  ///< that exist, from there on

  template <class T>
  static __device__ WarpgroupPairs of(const WarpgroupPart<T>& part) {
    const SlicedArguments<T>& x = part.w.x;
    const bool partial = x.partial != nullptr;
    const std::int64_t ld = partial ? x.partial_ld : x.g.ldd;
    const std::int64_t matrix = partial ? (part.slice * x.g.batch + part.tile.batch) * x.g.m * ld
                                        : part.tile.batch * x.g.stride_d;
    float* const base = partial ? x.partial : reinterpret_cast<float*>(x.g.d.elements());
    const int lane = int(threadIdx.x) % 32;
    return {base + matrix + (part.first + lane / 4) * ld + part.tile.column + lane % 4 * 2, ld, part.rows - lane / 4,
            part.columns - lane % 4 * 2};
  }
  __device__ __forceinline__ void put(int column, const float* s) const {
    if (column >= columns) return;
    if (rows > 0) *reinterpret_cast<float2*>(data + column) = {s[0], s[1]};
    if (rows > 8) *reinterpret_cast<float2*>(data + 8 * ld + column) = {s[2], s[3]};
  }
};

/// Without bias and activation. Code that is short: what is long must be fetched anew after each main loop.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_boxes(const WarpgroupBoxes<Shape::kN>& boxes, const float (&sums)[kSums],
                                            float alpha, const WarpgroupPart<T>& part) {
  constexpr int kColumns = WarpgroupBoxes<Shape::kN>::kColumns;
#pragma unroll
  for (int first = 0; first < Shape::kN; first += kColumns) {
    boxes.begin();
#pragma unroll
    for (int column = 0; column < kColumns; column += 8) {
      float values[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) values[e] = alpha * sums[(first + column) / 2 + e];
      boxes.template put<T>(column, values);
    }
    boxes.end(part, first);
  }
}
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_pairs(const float (&sums)[kSums], float alpha, const WarpgroupPart<T>& part) {
  const WarpgroupPairs pairs = WarpgroupPairs::of(part);
#pragma unroll
  for (int column = 0; column < Shape::kN; column += 8) {
    float values[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) values[e] = alpha * sums[column / 2 + e];
    pairs.put(column, values);
  }
}

/// With bias and activation, 32 columns at a time: one loop, and in it a branch to their registers.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_finished(const WarpgroupBoxes<Shape::kN>& boxes, const float (&sums)[kSums],
                                               float alpha, const WarpgroupPart<T>& part,
                                               const WarpgroupBias<Shape::kN / 32>& bias) {
  constexpr int kColumns = WarpgroupBoxes<Shape::kN>::kColumns;
  const Finish<T>& finish = part.w.x.g.finish;
  const WarpgroupPairs pairs = WarpgroupPairs::of(part);
#pragma unroll 1
  for (int first = 0; first < Shape::kN; first += 32) {
    float values[16], of_columns = 0;
#pragma unroll
    for (int i = 0; i < Shape::kN / 32; ++i) {
      if (32 * i != first) continue;
      of_columns = bias.of[i];
#pragma unroll
      for (int e = 0; e < 16; ++e) values[e] = alpha * sums[i * 16 + e];
    }
    if (finish.bias) add_bias<T>(values, finish, {bias.of[0], bias.of[1]}, of_columns);
    finish.activate_all(values);
    if (part.w.bulk) {
      if (first % kColumns == 0) boxes.begin();
#pragma unroll
      for (int i = 0; i < 4; ++i) boxes.template put<T>(first % kColumns + 8 * i, values + 4 * i);
      if (first % kColumns == kColumns - 32) boxes.end(part, first - (kColumns - 32));
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) pairs.put(first + 8 * i, values + 4 * i);
    }
  }
}

/// Without C: D of 16 bits by bulk copies, or sums or D of f32 in pairs. `memory`: of the warp; `row`: its first of the
/// tile.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_plain(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                            const WarpgroupArguments<T>& w, const GemmTile& tile, int slice, int row,
                                            const WarpgroupBias<Shape::kN / 32>& bias) {
  const GemmArguments<T>& g = w.x.g;
  const std::int64_t first = tile.row + row;
  const int rows = int(g.m - first < 16 ? g.m - first : 16);
  const int columns = int(g.n - tile.column < Shape::kN ? g.n - tile.column : Shape::kN);
  if (rows <= 0 || columns <= 0) return;
  const bool to_partial = w.x.partial != nullptr;
  const float alpha = to_partial ? 1.0f : (g.k != 0 ? g.alpha : 0.0f);
  const WarpgroupPart<T> part{w, tile, first, rows, columns, slice};
  const WarpgroupBoxes<Shape::kN> boxes{memory};
  if (!to_partial && g.finish)
    write_finished<Shape>(boxes, sums, alpha, part, bias);
  else if (w.bulk)
    write_boxes<Shape>(boxes, sums, alpha, part);
  else
    write_pairs<Shape>(sums, alpha, part);
}

/// Neighbouring columns of a tile that a warp lays out at a time, as f32.
struct WarpgroupPiece {
  static constexpr int kColumns = 32, kPitch = 4 * kColumns + 32;  ///< of rows, which begin in other banks
  static_assert(16 * kPitch <= WarpgroupTile::kWarpBytes);
};

/// What a warp has laid out as elements of D, kWidth neighbours a thread.
template <int kWidth, class T>
__device__ __forceinline__ void write_piece(const unsigned char* memory, const TileTarget<T>& target,
                                            const Finish<T>& finish, int first_column) {
  constexpr int kAcross = WarpgroupPiece::kColumns / kWidth, kRows = 32 / kAcross;
  const int lane = int(threadIdx.x) % 32, in_piece = lane % kAcross * kWidth, column = first_column + in_piece;
  if (column >= target.columns) return;
  Vector<Scalar<T>, kWidth> along{};  // the bias of the thread's columns
  if (finish.bias && !finish.per_row)
#pragma unroll
    for (int e = 0; e < kWidth; ++e) along.value[e] = finish.bias_at(column + e);
#pragma unroll(kWidth > 1 ? 16 / kRows : 1)
  for (int pass = 0; pass < 16; pass += kRows) {
    const int row = pass + lane / kAcross;
    if (row >= target.rows) continue;
    const auto sums =
        *reinterpret_cast<const Vector<Scalar<T>, kWidth>*>(memory + row * WarpgroupPiece::kPitch + in_piece * 4);
    auto values = target.combined(row, column, sums);
    if (finish.bias) {
      const Scalar<T> of_row = finish.per_row ? finish.bias_at(row) : Scalar<T>(0);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) values.value[e] += finish.per_row ? of_row : along.value[e];
    }
    finish.activate_all(values.value);
    target.store(row, column, values);
  }
}

/// For any arguments, and for the sums of slices, whose target is the workspace. `row`: the warp's first of the tile.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_any(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                          const SlicedArguments<T>& x, const GemmTile& tile, int slice, int row) {
  constexpr int kWidth = 4, kColumns = WarpgroupPiece::kColumns, kPitch = WarpgroupPiece::kPitch;
  const GemmArguments<T>& g = x.g;
  const std::int64_t first = tile.row + row;
  const int rows = int(g.m - first < 16 ? g.m - first : 16);
  const int columns = int(g.n - tile.column < Shape::kN ? g.n - tile.column : Shape::kN);
  if (rows <= 0 || columns <= 0) return;
  const bool to_partial = x.partial != nullptr;
  const TileTarget<T> target =
      target_of(x, {first, tile.column, tile.batch}, unsigned(slice), rows, columns, to_partial);
  const Finish<T> finish = to_partial ? Finish<T>{} : g.finish.at(tile.batch, first, tile.column);
  const bool vectors = target.template aligned<kWidth>();
  const int lane = int(threadIdx.x) % 32;
  unsigned char* const mine = memory + lane / 4 * kPitch + lane % 4 * 8;
  // One loop, and in it a branch to the registers of a piece: what writes them is there once.
#pragma unroll 1
  for (int piece = 0; piece < Shape::kN; piece += kColumns) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < Shape::kN / 8; ++i) {
      if (i / (kColumns / 8) * kColumns != piece) continue;
      const Scalar<T>* const s = sums + i * 4;
      *reinterpret_cast<float2*>(mine + i % (kColumns / 8) * 32) = {s[0], s[1]};
      *reinterpret_cast<float2*>(mine + 8 * kPitch + i % (kColumns / 8) * 32) = {s[2], s[3]};
    }
    __syncwarp();
    if (vectors)
      write_piece<kWidth>(memory, target, finish, piece);
    else
      write_piece<1>(memory, target, finish, piece);
  }
}

}  // namespace tessera::cuda
