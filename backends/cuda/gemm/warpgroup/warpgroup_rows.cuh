// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How sums become elements of D for any arguments: laid out in shared memory as f32, from where rows are written in
/// vectors. Those of a cluster's slices of k are added on the way.
#pragma once

#include "../tile_writer.cuh"
#include "../triangle_writer.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"
#include "warpgroup_place.cuh"

#include <cstdint>

namespace tessera::cuda {

/// Neighbouring columns of a tile that a warp lays out at a time, as f32.
struct WarpgroupPiece {
  static constexpr int kColumns = 32, kPitch = 4 * kColumns + 32;  ///< of rows, which begin in other banks
  static_assert(16 * kPitch <= WarpgroupTile::kWarpBytes);
};

/// The rest of a triangle: what its rows have, and the elements of its other side.
template <class T>
struct WarpgroupCut {
  TriangleCut cut;
  Elements<T> other;
  bool mirrored;

  __device__ WarpgroupCut(const SlicedArguments<T>& x, const GemmTile& place, int rows, int columns)
      : cut(x.triangle, place, rows, columns),
        other(x.g.d + (place.batch * x.g.stride_d + place.column * x.g.ldd + place.row)),
        mirrored(x.triangle.mirrored) {}

  template <int kWidth>
  __device__ __forceinline__ void store(const TileTarget<T>& target, int row, int column,
                                        const Vector<Scalar<T>, kWidth>& values) const {
    const int begin = cut.begin(row, column), end = cut.end(row, column + kWidth);
    write_some(target.d + (row * target.ldd + column), values, column, begin, end, true);
    if (!mirrored) return;
#pragma unroll
    for (int e = 0; e < kWidth; ++e)
      if (column + e >= begin && column + e < end)
        (other + ((column + e) * target.ldd + row)).write(Vector<Scalar<T>, 1>{{values.value[e]}});
  }
};

/// What a warp has laid out as elements of D, kWidth neighbours a thread. kCut: of a triangle. `place`: of the warp's
/// first element.
template <int kWidth, bool kCut, class T>
__device__ __forceinline__ void write_piece(const unsigned char* memory, const TileTarget<T>& target,
                                            const Finish<T>& finish, int first_column, const SlicedArguments<T>& x,
                                            const GemmTile& place) {
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
    finish.activate_at(row, column, values);
    if constexpr (kCut)
      WarpgroupCut<T>(x, place, target.rows, target.columns).store(target, row, column, values);
    else
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
  const bool vectors = target.template aligned<kWidth>() && finish.template aligned<kWidth>();
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
    const auto write = [&]<int kNeighbours>() {
      const GemmTile place{first, tile.column, tile.batch};
      if (x.triangle.down > 0)
        write_piece<kNeighbours, true>(memory, target, finish, piece, x, place);
      else
        write_piece<kNeighbours, false>(memory, target, finish, piece, x, place);
    };
    if (vectors)
      write.template operator()<kWidth>();
    else
      write.template operator()<1>();
  }
}

/// A tile's sums in the memory of the ring, as f32, for the blocks of a cluster that have other slices of k.
template <class Place, class S>
class WarpgroupTileSums {
 public:
  /// Of the product's tile, or where it is turned the other way round.
  static __device__ __forceinline__ int columns_of(const WarpgroupTile& tile) {
    return Place::kTurned ? tile.rows : tile.columns;
  }
  /// Of rows, which begin in other banks.
  static __device__ __forceinline__ int pitch_of(const WarpgroupTile& tile) {
    return columns_of(tile) + (Place::kPairs ? 8 : 4);
  }

  /// A thread's sums. `row`: its first of the product's tile, which has so many columns.
  template <int kSums>
  static __device__ __forceinline__ void put(S* tile, const S (&sums)[kSums], int row, int pitch, int columns) {
    S* const mine = tile + (Place::kTurned ? Place::column() * pitch + row : row * pitch + Place::column());
#pragma unroll
    for (int i = 0; i < kSums / 2; ++i) {
      const int four = i / 2, pair = i % 2;
      if (8 * four >= columns) return;
      S* const to = mine + Place::line(four, pair) * pitch + Place::along(four);
      const S one = sums[Place::first(four, pair)], other = sums[Place::second(four, pair)];
      if constexpr (Place::kPairs)
        *reinterpret_cast<Vector<S, 2>*>(to) = {{one, other}};
      else
        to[0] = one, to[Place::kApart] = other;
    }
  }
  /// Four neighbours at each of kPlaces places, of all blocks, added in the order of the slices. All are read at once.
  template <int kPlaces>
  static __device__ __forceinline__ void add(Vector<S, 4> (&sums)[kPlaces], const std::uint32_t (&places)[kPlaces],
                                             int slices) {
    constexpr int kMost = 8;
    float4 parts[kMost][kPlaces];
#pragma unroll
    for (int slice = 0; slice < kMost; ++slice)
#pragma unroll
      for (int i = 0; i < kPlaces; ++i)
        if (slice < slices) parts[slice][i] = read(places[i], slice);
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) {
      sums[i] = {};
#pragma unroll
      for (int slice = 0; slice < kMost; ++slice)
        if (slice < slices) {
          sums[i].value[0] += parts[slice][i].x, sums[i].value[1] += parts[slice][i].y;
          sums[i].value[2] += parts[slice][i].z, sums[i].value[3] += parts[slice][i].w;
        }
    }
  }
  static __device__ __forceinline__ std::uint32_t place(std::uint32_t tile, int row, int column, int pitch) {
    return tile + unsigned(row * pitch + column) * 4;
  }

 private:
  /// Of a block of the cluster. Reads stay behind the barrier, as everything that is volatile.
  static __device__ __forceinline__ float4 read(std::uint32_t place, int block) {
    float4 v;
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %4, %5;\n"
        "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
        "}\n"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "r"(place), "r"(block));
    return v;
  }
};

/// Four neighbours of D, or where it is not aligned for that one after the other.
template <class T>
__device__ __forceinline__ void write_four(const TileTarget<T>& target, const Finish<T>& finish, int row, int column,
                                           const Vector<Scalar<T>, 4>& sums, bool vectors) {
  const auto finished = [&](auto values, int at) {
    constexpr int kWidth = sizeof(values.value) / sizeof(Scalar<T>);
    if (finish.bias)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) values.value[e] += finish.bias_at(finish.per_row ? row : at + e);
    finish.activate_at(row, at, values);
    target.store(row, at, values);
  };
  if (vectors) return finished(target.combined(row, column, sums), column);
#pragma unroll 1
  for (int e = 0; e < 4 && column + e < target.columns; ++e) {  // selects: an array that is indexed lies in memory
    const Scalar<T> lower = e == 0 ? sums.value[0] : sums.value[1], upper = e == 2 ? sums.value[2] : sums.value[3];
    finished(target.combined(row, column + e, Vector<Scalar<T>, 1>{{e < 2 ? lower : upper}}), column + e);
  }
}

/// The multiplying threads of all blocks of a cluster, whose blocks have a slice of the tile each: every so many rows
/// are written by one block. `ring`: what products have been read from; `row`: the warpgroup's first of the tile, if it
/// has any.
template <class Shape, class T>
__device__ __forceinline__ void write_cluster(unsigned char* ring, const Scalar<T> (&sums)[Shape::kN / 2],
                                              const WarpgroupArguments<T>& w, const GemmTile& tile, int row,
                                              unsigned rank, bool has_rows) {
  using S = Scalar<T>;
  using Place = typename Shape::Place;
  using TileSums = WarpgroupTileSums<Place, S>;
  constexpr int kThreads = 128 * Shape::kConsumers;
  constexpr bool kTurned = Place::kTurned;
  const SlicedArguments<T>& x = w.x;
  const GemmArguments<T>& g = x.g;
  const int thread = int(threadIdx.x) - 128, pitch = TileSums::pitch_of(w.tile);
  asm volatile("bar.sync 4, %0;" ::"n"(kThreads) : "memory");  // nobody's products read the ring any more
  if (has_rows) TileSums::put(reinterpret_cast<S*>(ring), sums, row + Place::row(), pitch, w.tile.columns);
  cluster_sync();
  const int of_m = int(min(g.m - tile.row, std::int64_t(w.tile.rows)));
  const int of_n = int(min(g.n - tile.column, std::int64_t(w.tile.columns)));
  const int rows = kTurned ? of_n : of_m, columns = kTurned ? of_m : of_n;
  const GemmTile in_d = kTurned ? GemmTile{tile.column, tile.row, tile.batch} : tile;
  const TileTarget<T> target = target_of(x, in_d, rank, rows, columns, false);
  const Finish<T> finish = (kTurned ? g.finish.turn() : g.finish).at(tile.batch, in_d.row, in_d.column);
  const bool vectors = target.template aligned<4>() && finish.template aligned<4>();
  // Places of four columns in the rows of this block, two at a time.
  constexpr int kPlaces = 2;
  const int across = TileSums::columns_of(w.tile) / 4;
  const int count = (rows - int(rank) + x.slices - 1) / x.slices * across;
#pragma unroll 1
  for (int first = 0; first < count; first += kThreads * kPlaces) {
    std::uint32_t places[kPlaces];
    int row[kPlaces], column[kPlaces];
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) {
      const int number = min(first + i * kThreads + thread, count - 1);
      row[i] = int(rank) + number / across * x.slices, column[i] = number % across * 4;
      places[i] = TileSums::place(shared_address(ring), row[i], column[i], pitch);
    }
    Vector<S, 4> all[kPlaces];
    TileSums::add(all, places, x.slices);
#pragma unroll 1
    for (int i = 0; i < kPlaces; ++i) {
      const int r = i == 0 ? row[0] : row[1], c = i == 0 ? column[0] : column[1];
      const bool exists = first + i * kThreads + thread < count && r < rows && c < columns;
      if (exists) write_four(target, finish, r, c, i == 0 ? all[0] : all[1], vectors);
    }
  }
}

}  // namespace tessera::cuda
