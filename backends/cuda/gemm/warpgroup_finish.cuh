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

/// D of 16 bits, rounded in registers. `memory`: of the warp; `row`: its first of the tile.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_plain(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                            const SlicedArguments<T>& x, const GemmTile& tile, int row) {
  constexpr int kPiece = Shape::kN < 128 ? Shape::kN : 128, kPitch = 2 * kPiece + 16;  // rows begin in other banks
  constexpr int kAcross = kPiece / 8, kRowsAPass = 32 / kAcross;
  const GemmArguments<T>& g = x.g;
  const int lane = int(threadIdx.x) % 32;
  const std::int64_t first = tile.row + row;
  const Scalar<T> alpha = g.k != 0 ? g.alpha : Scalar<T>(0);
  T* const d = g.d.elements() + tile.batch * g.stride_d + first * g.ldd + tile.column;
#pragma unroll
  for (int piece = 0; piece < Shape::kN; piece += kPiece) {
    unsigned char* const mine = memory + lane / 4 * kPitch + lane % 4 * 4;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPiece / 8; ++i) {
      const Scalar<T>* const s = sums + (piece / 8 + i) * 4;
      *reinterpret_cast<std::uint32_t*>(mine + i * 16) = detail::word_of(T{}, alpha * s[0], alpha * s[1]);
      *reinterpret_cast<std::uint32_t*>(mine + 8 * kPitch + i * 16) = detail::word_of(T{}, alpha * s[2], alpha * s[3]);
    }
    __syncwarp();
    const int column = piece + lane % kAcross * 8;
#pragma unroll
    for (int pass = 0; pass < 16; pass += kRowsAPass) {
      const int r = pass + lane / kAcross;
      const uint4 values = *reinterpret_cast<const uint4*>(memory + r * kPitch + lane % kAcross * 16);
      if (first + r < g.m && tile.column + column < g.n) *reinterpret_cast<uint4*>(d + r * g.ldd + column) = values;
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
