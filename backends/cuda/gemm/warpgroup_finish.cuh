// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a warp, 16 rows, become elements of D: in pieces of some columns through shared memory, from where
/// rows are written in vectors.
#pragma once

#include "tile_writer.cuh"
#include "warpgroup_tiles.hpp"

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

/// What becomes of a thread's sums of 32 columns: alpha, the bias, the activation. `bias`: by columns that of the lane's.
template <class T>
__device__ __forceinline__ void finish_piece(Scalar<T> (&values)[16], Scalar<T> alpha, const Finish<T>& finish,
                                             const Scalar<T> (&rows)[2], Scalar<T> columns) {
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int e = 0; e < 16; ++e) values[e] *= alpha;
  if (finish.bias && finish.per_row) {
#pragma unroll
    for (int e = 0; e < 16; ++e) values[e] += rows[e / 2 % 2];
  } else if (finish.bias) {
#pragma unroll
    for (int e = 0; e < 16; e += 4)
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const Scalar<T> of_column = __shfl_sync(0xffffffffu, columns, e * 2 + lane % 4 * 2 + side);
        values[e + side] += of_column, values[e + side + 2] += of_column;
      }
  }
  finish.activate_all(values);
}

/// Without C: D of 16 bits, rounded in registers and laid out in shared memory; or sums or D of f32, straight from
/// registers, where four threads write a sector. `memory`: of the warp; `row`: its first of the tile.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_plain(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                            const SlicedArguments<T>& x, const GemmTile& tile, int slice, int row,
                                            const WarpgroupBias<Shape::kN / 32>& bias) {
  constexpr int kPiece = Shape::kN < 128 ? Shape::kN : 128, kPitch = 2 * kPiece + 16;  // rows begin in other banks
  constexpr int kAcross = kPiece / 8, kRowsAPass = 32 / kAcross;
  const GemmArguments<T>& g = x.g;
  const int lane = int(threadIdx.x) % 32;
  const std::int64_t first = tile.row + row;
  const int rows = int(g.m - first < 16 ? g.m - first : 16);
  const int columns = int(g.n - tile.column < Shape::kN ? g.n - tile.column : Shape::kN);
  if (rows <= 0) return;
  const bool to_partial = x.partial != nullptr, finishes = !to_partial && g.finish;
  const TileTarget<T> target =
      target_of(x, {first, tile.column, tile.batch}, unsigned(slice), rows, columns, to_partial);
  const Scalar<T> alpha = to_partial ? Scalar<T>(1) : (g.k != 0 ? g.alpha : Scalar<T>(0));
  const bool wide = to_partial || g.d.wide();
  unsigned char* const mine = memory + lane / 4 * kPitch + lane % 4 * 4;
  const auto put = [&](int column, const Scalar<T>* s) {
    *reinterpret_cast<std::uint32_t*>(mine + column * 2) = detail::word_of(T{}, s[0], s[1]);
    *reinterpret_cast<std::uint32_t*>(mine + 8 * kPitch + column * 2) = detail::word_of(T{}, s[2], s[3]);
  };
  const auto put_wide = [&](int column, const Scalar<T>* s) {
    column += lane % 4 * 2;
    if (column >= columns) return;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (lane / 4 + 8 * half < rows)
        target.template store<2>(lane / 4 + 8 * half, column, {{s[2 * half], s[2 * half + 1]}});
  };
#pragma unroll
  for (int piece = 0; piece < Shape::kN; piece += kPiece) {
    if (finishes) {
#pragma unroll 1
      for (int part = 0; part < kPiece; part += 32) {
        Scalar<T> values[16], of_columns = 0;
#pragma unroll
        for (int i = 0; i < kPiece / 32; ++i) {
          if (32 * i != part) continue;
          of_columns = bias.of[piece / 32 + i];
#pragma unroll
          for (int e = 0; e < 16; ++e) values[e] = sums[(piece / 32 + i) * 16 + e];
        }
        finish_piece<T>(values, alpha, g.finish, {bias.of[0], bias.of[1]}, of_columns);
        if (!wide && part == 0) __syncwarp();
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (wide)
            put_wide(piece + part + 8 * i, values + 4 * i);
          else
            put(part + 8 * i, values + 4 * i);
        }
      }
    } else {
      if (!wide) __syncwarp();
#pragma unroll
      for (int i = 0; i < kPiece / 8; ++i) {
        Scalar<T> values[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) values[e] = alpha * sums[(piece / 8 + i) * 4 + e];
        if (wide)
          put_wide(piece + 8 * i, values);
        else
          put(8 * i, values);
      }
    }
    if (wide) continue;
    __syncwarp();
    const int column = piece + lane % kAcross * 8;
#pragma unroll
    for (int pass = 0; pass < 16; pass += kRowsAPass) {
      const int r = pass + lane / kAcross;
      const uint4 values = *reinterpret_cast<const uint4*>(memory + r * kPitch + lane % kAcross * 16);
      if (r < rows && column < columns) *reinterpret_cast<uint4*>(target.d.elements() + r * g.ldd + column) = values;
    }
  }
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
  if (rows <= 0) return;
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
