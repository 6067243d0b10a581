// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a block of warpgroup's computes, and how one of its warpgroups fills the ring of tiles in shared memory.
#pragma once

#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"
#include "warpgroup_place.cuh"

#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

/// A slice of k of the tile that a block computes.
struct WarpgroupWork {
  GemmTile tile;
  int slice;
  int first_step, steps;  ///< of 64 of k: one at least, of zeros, unless k is 0
};

__device__ __forceinline__ std::uint32_t quotient(std::uint32_t number, const WarpgroupDivisor& by) {
  return (__umulhi(number, by.factor) + number) >> by.shift;
}

/// `unit`: from 0 on; `rank`: of the block in its cluster.
template <class Shape, class T>
__device__ __forceinline__ WarpgroupWork work_at(const WarpgroupArguments<T>& w, std::uint32_t unit, unsigned rank) {
  const WarpgroupOrder& order = w.order;
  const std::int64_t k = w.x.g.k, k_per_slice = w.x.k_per_slice;
  const unsigned below = unsigned(order.tiles.m), beside = unsigned(order.tiles.n), tiles = below * beside;
  std::uint32_t number = order.first + unit, slice = rank, in_cluster = rank;
  if (order.cluster.k > 1) {  // tiles one by one, whose slices are the cluster's blocks
    in_cluster = number & (tiles - 1), number >>= __ffs(int(tiles)) - 1;
  } else {
    const std::uint32_t tile = quotient(number, order.slices);
    slice = number - tile * order.slices.divisor, number = tile;
  }
  const std::uint32_t matrix = quotient(number, order.of_matrix), in_matrix = number - matrix * order.of_matrix.divisor;
  const std::uint32_t group = quotient(in_matrix, order.of_group);
  const std::uint32_t in_group = in_matrix - group * order.of_group.divisor, first_row = group * order.group.divisor;
  const WarpgroupDivisor& height = first_row + order.group.divisor > order.rows ? order.last_group : order.group;
  const std::uint32_t in_row = quotient(in_group, height);
  const std::uint32_t row = (first_row + in_group - in_row * height.divisor) * below + (in_cluster & (below - 1));
  const std::uint32_t column = in_row * beside + (in_cluster >> (__ffs(int(below)) - 1));
  const std::int64_t first = slice * k_per_slice, left = k - first, ks = left < k_per_slice ? left : k_per_slice;
  return {{std::int64_t(row) * w.tile.rows, std::int64_t(column) * w.tile.columns, matrix},
          int(slice),
          int(first / Shape::kDepth),
          ks > 0 ? int(ceil_div(ks, Shape::kDepth)) : int(k > 0)};
}

/// kSingle: operands are read element by element.
template <class T, WarpgroupLayout kLayout, bool kSingleValue>
struct WarpgroupShape {
  static constexpr bool kSingle = kSingleValue;
  static constexpr int kN = WarpgroupTile::kMostColumns, kUnit = kSingle ? 64 : WarpgroupTile::column_unit(sizeof(T));
  static constexpr int kDepth = WarpgroupTile::depth(sizeof(T)), kConsumers = WarpgroupTile::kConsumers;
  /// Registers of a thread that loads, and of one that multiplies.
  static constexpr int kLoadRegisters = kSingle ? 72 : 40, kRegisters = kSingle ? 216 : 232;
  using A = WarpgroupOperand<T, kLayout.k_major_a>;
  using B = WarpgroupOperand<T, kLayout.k_major_b>;
  /// Instructions read operands of 4 bytes from shared memory where they are K-major alone: another A goes by
  /// registers.
  static constexpr bool kFragments = sizeof(T) == 4 && !A::kKMajor;
  static_assert(sizeof(T) == 2 || B::kKMajor);
  using Place = WarpgroupPlace<kFragments, kLayout.turned>;
};

/// The ring in shared memory: stages, and two barriers each, that it is full and that it is empty.
template <class Shape>
struct WarpgroupRing {
  std::uint32_t stages, warps, bias, barriers;
  std::uint32_t stage_bytes, a_bytes;
  int count, stage = 0;
  unsigned parity = 0;  ///< of the phase that the stage is in

  template <class T>
  __device__ WarpgroupRing(std::uint32_t shared, const WarpgroupArguments<T>& w)
      : stages(shared),
        warps(shared + unsigned(w.stages) * w.stage_distance),
        bias(warps + 4 * Shape::kConsumers * WarpgroupTile::kWarpBytes),
        barriers(bias + 4 * Shape::kConsumers * Shape::kN),
        stage_bytes(w.stage_distance),
        a_bytes(unsigned(w.tile.rows * WarpgroupTile::kRowBytes)),
        count(w.stages) {}
  __device__ std::uint32_t a() const { return stages + unsigned(stage) * stage_bytes; }
  __device__ std::uint32_t b() const { return a() + a_bytes; }
  __device__ std::uint32_t full() const { return barriers + 16u * unsigned(stage); }
  __device__ std::uint32_t empty() const { return full() + 8; }
  __device__ void advance() {
    if (++stage == count) stage = 0, parity ^= 1;
  }
  /// Passes over stages that another warpgroup reads.
  __device__ void advance(int steps) {
    const int at = stage + steps;
    parity ^= unsigned(at / count) & 1, stage = at % count;
  }
};

/// How a block shares copies of an operand with blocks of its cluster: of as many equal shares as there are blocks, it
/// copies one to all of them. Of a tile's rows or columns where the operand is K-major, else of k.
template <class Operand>
struct WarpgroupShare {
  int of_tile;      ///< rows or columns of the tile
  int first;        ///< of the share
  unsigned blocks;  ///< a bit for each of them; 0 where it is alone

  /// `others`: the blocks of the cluster that read the same tile.
  __device__ WarpgroupShare(int extent, unsigned count, unsigned number, unsigned others)
      : of_tile(extent),
        first((Operand::kKMajor ? extent : Operand::kLine) / int(count) * int(number)),
        blocks(count > 1 ? others : 0) {}
  /// Elements of f32 are rounded to tf32 on their way.
  __device__ __forceinline__ void copy(std::uint32_t shared, const WarpgroupMap& from, std::uint32_t barrier,
                                       int extent, int k, int batch) const {
    const int matrix = from.varies ? batch : 0;
    shared += unsigned(first * 128);
    if constexpr (Operand::kKMajor) {
      copy_box(shared, from.map, barrier, k, extent + first, matrix, blocks);
    } else {
#pragma unroll 1
      for (int line = 0; line < of_tile; line += Operand::kLine)
        copy_box(shared + unsigned(line * 128), from.map, barrier, extent + line, k + first, matrix, blocks);
    }
  }
};

/// A warp: fills the ring by bulk copies, which one thread begins. What all threads know needs no search for those that
/// know it.
template <class T, class Shape>
__device__ void fill_ring(const WarpgroupArguments<T>& w, WarpgroupRing<Shape> ring, unsigned first, unsigned apart,
                          unsigned rank) {
  const unsigned below = unsigned(w.order.cluster.m), beside = unsigned(w.order.cluster.n);
  const unsigned row = rank % below, column = rank / below % beside;
  unsigned of_row = 0;
  for (unsigned block = 0; block < beside; ++block) of_row |= 1u << (row + block * below);
  const WarpgroupShare<typename Shape::A> a(w.tile.rows, beside, column, of_row);
  const WarpgroupShare<typename Shape::B> b(w.tile.columns, below, row, ((1u << below) - 1) << (column * below));
  const bool one = elected();
  for (unsigned unit = first; unit < w.order.units; unit += apart) {
    const WarpgroupWork work = work_at<Shape>(w, unit, rank);
    const int at_row = int(work.tile.row), at_column = int(work.tile.column), batch = int(work.tile.batch);
#pragma unroll 1
    for (int step = work.first_step; step < work.first_step + work.steps; ++step) {
      barrier_wait(ring.empty(), ring.parity ^ 1);
      if (one) {
        barrier_expect(ring.full(), w.stage_bytes);
        const int k = step * Shape::kDepth;
        a.copy(ring.a(), w.a, ring.full(), at_row, k, batch);
        b.copy(ring.b(), w.b, ring.full(), at_column, k, batch);
      }
      __syncwarp();  // stages are waited for by parity: nobody stays a phase behind
      ring.advance();
    }
  }
}

/// A warpgroup reads an operand's tile, of so many rows or columns, from any address; zeros where it ends. `operand`:
/// its first element of the tile, of which so many rows or columns and so many of k exist.
template <class Operand, class T>
__device__ __forceinline__ void load_operand(std::uint32_t shared, int of_tile, const T* operand, std::int64_t ld,
                                             std::int64_t extent, std::int64_t k) {
  constexpr int kParts = 8, kWidth = Operand::kLine / kParts;  // of a row, of 16 bytes each
#pragma unroll 2
  for (int i = int(threadIdx.x); i < of_tile * kParts; i += 128) {
    const int row = i / kParts, part = i % kParts;
    const int line = Operand::kKMajor ? row : row % Operand::kLine;
    const int along = (Operand::kKMajor ? 0 : row - line) + part * kWidth;
    const bool exists = line < (Operand::kKMajor ? extent : k);
    const std::int64_t left = (Operand::kKMajor ? k : extent) - along;
    const uint4 words = part_of(operand + line * ld + along, exists ? left : 0);
    store_part(shared + std::uint32_t(swizzled(row, part)), words);
  }
}

/// A warpgroup: fills the ring from any address.
template <class T, class Shape>
__device__ void load_ring(const WarpgroupArguments<T>& w, WarpgroupRing<Shape> ring, unsigned first, unsigned apart,
                          unsigned rank) {
  const GemmArguments<T>& g = w.x.g;
  for (unsigned unit = first; unit < w.order.units; unit += apart) {
    const WarpgroupWork work = work_at<Shape>(w, unit, rank);
    const GemmTile& tile = work.tile;
    for (int step = work.first_step; step < work.first_step + work.steps; ++step) {
      const std::int64_t k = std::int64_t(step) * Shape::kDepth;
      const T* const a =
          g.a + tile.batch * g.stride_a + (Shape::A::kKMajor ? tile.row * g.lda + k : k * g.lda + tile.row);
      const T* const b =
          g.b + tile.batch * g.stride_b + (Shape::B::kKMajor ? tile.column * g.ldb + k : k * g.ldb + tile.column);
      barrier_wait(ring.empty(), ring.parity ^ 1);
      load_operand<typename Shape::A>(ring.a(), w.tile.rows, a, g.lda, g.m - tile.row, g.k - k);
      load_operand<typename Shape::B>(ring.b(), int((ring.stage_bytes - ring.a_bytes) / WarpgroupTile::kRowBytes), b,
                                      g.ldb, g.n - tile.column, g.k - k);
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // products read by another way
      barrier_arrive(ring.full());
      ring.advance();
    }
  }
}

}  // namespace tessera::cuda
