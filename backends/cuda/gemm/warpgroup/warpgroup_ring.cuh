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
  TriangleTiles::Place place;
  if constexpr (Shape::kTriangle) {
    place = order.triangle.at(in_matrix);
  } else {
    const std::uint32_t group = quotient(in_matrix, order.of_group);
    const std::uint32_t in_group = in_matrix - group * order.of_group.divisor, first_row = group * order.group.divisor;
    const WarpgroupDivisor& height = first_row + order.group.divisor > order.rows ? order.last_group : order.group;
    const std::uint32_t in_row = quotient(in_group, height);
    place = {first_row + in_group - in_row * height.divisor, in_row};
  }
  const std::uint32_t row = place.row * below + (in_cluster & (below - 1));
  const std::uint32_t column = place.column * beside + (in_cluster >> (__ffs(int(below)) - 1));
  const std::int64_t first = slice * k_per_slice, left = k - first, ks = left < k_per_slice ? left : k_per_slice;
  return {{std::int64_t(row) * w.tile.rows, std::int64_t(column) * w.tile.columns, matrix},
          int(slice),
          int(first / Shape::kDepth),
          ks > 0 ? int(ceil_div(ks, Shape::kDepth)) : int(k > 0)};
}

/// kSingle: operands are read element by element. kTriangle: of a triangle, in kernels of their own, since others would
/// have fewer registers.
template <class T, WarpgroupLayout kLayout, bool kSingleValue, bool kTriangleValue = false>
struct WarpgroupShape {
  static constexpr bool kSingle = kSingleValue, kTriangle = kTriangleValue;
  static constexpr int kN = WarpgroupTile::kMostColumns, kUnit = kSingle ? 64 : WarpgroupTile::column_unit(sizeof(T));
  static constexpr int kDepth = WarpgroupTile::depth(sizeof(T)), kConsumers = WarpgroupTile::kConsumers;
  /// Registers of a thread that loads, and of one that multiplies.
  static constexpr int kLoadRegisters = kSingle ? 72 : 40, kRegisters = kSingle ? 216 : 232;
  using A = WarpgroupOperand<T, kLayout.k_major_a>;
  using B = WarpgroupOperand<T, kLayout.k_major_b>;
  static constexpr bool kFragments = warpgroup_has_fragments<T>(kLayout);
  static_assert(sizeof(T) == 2 || B::kKMajor);
  /// Of a stage's steps, for tiles with so many columns.
  static constexpr bool kOneStep = kSingle || kFragments;
  template <int kColumns>
  static constexpr int kFewestSteps = kOneStep ? 1 : WarpgroupTile::fewest_steps(kColumns);
  template <int kColumns>
  static constexpr int kMostSteps = kOneStep ? 1 : WarpgroupTile::most_steps(kColumns);
  using Place = WarpgroupPlace<kFragments, kLayout.turned>;
};

/// The ring in shared memory: stages, and two barriers each, that it is full and that it is empty.
template <class Shape>
struct WarpgroupRing {
  std::uint32_t stages, warps, bias, barriers;
  std::uint32_t stage_bytes, a_bytes, b_bytes;  ///< of a stage, and of a step's tiles in it
  int count, steps, stage = 0;                  ///< of stages, and of one's steps of k
  unsigned parity = 0;                          ///< of the phase that the stage is in

  template <class T>
  __device__ WarpgroupRing(std::uint32_t shared, const WarpgroupArguments<T>& w)
      : stages(shared),
        warps(shared + unsigned(w.stages) * w.stage_distance),
        bias(warps + 4 * Shape::kConsumers * WarpgroupTile::kWarpBytes),
        barriers(bias + 4 * Shape::kConsumers * Shape::kN),
        stage_bytes(w.stage_distance),
        a_bytes(unsigned(w.tile.rows * WarpgroupTile::kRowBytes)),
        b_bytes((stage_bytes >> (w.stage_steps - 1)) - a_bytes),
        count(w.stages),
        steps(w.stage_steps) {}
  /// A's tiles of all steps, then B's.
  __device__ std::uint32_t a() const { return stages + unsigned(stage) * stage_bytes; }
  __device__ std::uint32_t b() const { return a() + unsigned(steps) * a_bytes; }
  __device__ std::uint32_t full() const { return barriers + 16u * unsigned(stage); }
  __device__ std::uint32_t empty() const { return full() + 8; }
  __device__ void advance() {
    if (++stage == count) stage = 0, parity ^= 1;
  }
  /// Passes over the stages of so many steps, which another warpgroup reads.
  __device__ void pass_over(int all_steps) {
    const int at = stage + (steps == 1 ? all_steps : (all_steps + 1) / 2);
    parity ^= unsigned(at / count) & 1, stage = at % count;
  }
};

/// What a loop needs each time stays in a register: who begins copies would wait for constant memory.
__device__ __forceinline__ int in_register(int value) {
  int result;
  asm volatile("mov.b32 %0, %1;" : "=r"(result) : "r"(value));
  return result;
}

/// A block's copies of an operand to a stage of so many steps. In a cluster it may share them with other blocks: of as
/// many equal shares as there are blocks, it copies one to all of them. Of a tile's rows or columns where the operand
/// is K-major, else of k.
template <class Operand, int kSteps, bool kInCluster>
struct WarpgroupCopies {
  const WarpgroupMap& from;
  const CUtensorMap* map;  ///< of a step of the tile
  int of_tile;             ///< rows or columns of a tile
  int lines;               ///< of them that are copied
  int first;               ///< of the share
  int last_pair;           ///< see WarpgroupMap
  unsigned blocks;         ///< a bit for each of them; 0 where it is alone

  /// `others`: the blocks of the cluster that read the same tile.
  __device__ WarpgroupCopies(const WarpgroupMap& maps, int extent, unsigned count, unsigned number, unsigned others)
      : from(maps),
        map(&maps.map),
        of_tile(extent),
        lines(extent),
        first(kInCluster ? (Operand::kKMajor ? extent : Operand::kLine) / int(count) * int(number) : 0),
        last_pair(in_register(maps.last_pair)),
        blocks(kInCluster && count > 1 ? others : 0) {}

  /// Before the copies of the tile at `extent`. Returns the bytes that they bring to a stage. Of the last tile, unless
  /// a cluster shares it, comes what exists: what does not takes a bulk copy three times as long. The rest of the stage
  /// keeps what was there, whose products are of rows or columns that nobody writes.
  __device__ __forceinline__ unsigned begin(int extent) {
    if constexpr (!kInCluster) {
      const int left = from.extent - extent;
      const bool ends = left > 0 && left < of_tile;
      lines = in_register(ends ? left : of_tile);
      if constexpr (Operand::kKMajor) {
        map = ends ? &from.edge : &from.map;
        last_pair = in_register(ends ? -1 : from.last_pair);
      }
    }
    const int copied = Operand::kKMajor ? lines : (lines + Operand::kLine - 1) / Operand::kLine * Operand::kLine;
    return unsigned(kSteps * copied * WarpgroupTile::kRowBytes);
  }

  /// From `k` on, of the tile at `extent`. A second step that does not exist begins `beyond` the end of k: zeros.
  /// Steps lie `apart` bytes apart.
  __device__ __forceinline__ void copy(std::uint32_t shared, std::uint32_t barrier, int extent, int k, int end,
                                       int beyond, int matrix, std::uint32_t apart) const {
    if constexpr (kSteps == 1) return copy_step(shared, barrier, extent, k, matrix);
    const int next = k + Operand::kLine;
    if (Operand::kKMajor && k <= last_pair && next < end)
      return copy_pair(shared, from.pair, barrier, k, extent, matrix);
    copy_step(shared, barrier, extent, k, matrix);
    copy_step(shared + apart, barrier, extent, next < end ? next : beyond, matrix);
  }

 private:
  /// Elements of f32 are rounded to tf32 on their way.
  __device__ __forceinline__ void copy_step(std::uint32_t shared, std::uint32_t barrier, int extent, int k,
                                            int matrix) const {
    shared += unsigned(first * 128);
    if constexpr (Operand::kKMajor) {
      copy_box(shared, *map, barrier, k, extent + first, matrix, kInCluster ? blocks : 0);
    } else {
#pragma unroll 1
      for (int line = 0; line < lines; line += Operand::kLine)
        copy_box(shared + unsigned(line * 128), from.map, barrier, extent + line, k + first, matrix,
                 kInCluster ? blocks : 0);
    }
  }
};

/// A warp: fills the ring by bulk copies, which one thread begins. What all threads know needs no search for those that
/// know it.
template <int kSteps, bool kInCluster, class T, class Shape>
__device__ void fill_ring(const WarpgroupArguments<T>& w, WarpgroupRing<Shape> ring, unsigned first, unsigned apart,
                          unsigned rank) {
  const unsigned below = unsigned(w.order.cluster.m), beside = unsigned(w.order.cluster.n);
  const unsigned row = rank % below, column = rank / below % beside;
  unsigned of_row = 0;
  for (unsigned block = 0; block < beside; ++block) of_row |= 1u << (row + block * below);
  const unsigned of_column = ((1u << below) - 1) << (column * below);
  WarpgroupCopies<typename Shape::A, kSteps, kInCluster> a(w.a, w.tile.rows, beside, column, of_row);
  WarpgroupCopies<typename Shape::B, kSteps, kInCluster> b(w.b, w.tile.columns, below, row, of_column);
  const bool one = elected();
  const int beyond = int(ceil_div(w.x.g.k, Shape::kDepth)) * Shape::kDepth;  // copies begin at multiples of 16 bytes
  for (unsigned unit = first; unit < w.order.units; unit += apart) {
    const WarpgroupWork work = work_at<Shape>(w, unit, rank);
    const int at_row = int(work.tile.row), at_column = int(work.tile.column), batch = int(work.tile.batch);
    const int of_a = w.a.varies ? batch : 0, of_b = w.b.varies ? batch : 0;
    const int end = (work.first_step + work.steps) * Shape::kDepth;
    const auto bytes = unsigned(in_register(int(a.begin(at_row) + b.begin(at_column))));
#pragma unroll 1
    for (int k = work.first_step * Shape::kDepth; k < end; k += kSteps * Shape::kDepth) {
      barrier_wait(ring.empty(), ring.parity ^ 1);
      if (one) {
        barrier_expect(ring.full(), bytes);
        a.copy(ring.a(), ring.full(), at_row, k, end, beyond, of_a, ring.a_bytes);
        b.copy(ring.b(), ring.full(), at_column, k, end, beyond, of_b, ring.b_bytes);
      }
      __syncwarp();  // stages are waited for by parity: nobody stays a phase behind
      ring.advance();
    }
  }
}
/// By the steps of a stage, and whether there is a cluster: each in a loop of its own, since what is asked in it delays
/// copies.
template <class T, class Shape>
__device__ void fill_ring(const WarpgroupArguments<T>& w, const WarpgroupRing<Shape>& ring, unsigned first,
                          unsigned apart, unsigned rank) {
  const bool in_cluster = w.order.cluster.m * w.order.cluster.n > 1;
  if constexpr (!Shape::kOneStep)
    if (ring.steps > 1)
      return in_cluster ? fill_ring<2, true, T>(w, ring, first, apart, rank)
                        : fill_ring<2, false, T>(w, ring, first, apart, rank);
  return in_cluster ? fill_ring<1, true, T>(w, ring, first, apart, rank)
                    : fill_ring<1, false, T>(w, ring, first, apart, rank);
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
      fence_for_bulk_copies();  // products read by another way
      barrier_arrive(ring.full());
      ring.advance();
    }
  }
}

}  // namespace tessera::cuda
