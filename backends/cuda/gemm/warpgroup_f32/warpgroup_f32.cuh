// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernel of warpgroup_f32: as warpgroup's, but a step's tiles hold all parts of the elements, are loaded once, and
/// are used by all products of parts.
#pragma once

#include "../../early_start.cuh"
#include "../rasterization.cuh"
#include "../recompute_f32.cuh"
#include "../slices.cuh"
#include "../warpgroup/warpgroup_layout.cuh"
#include "../warpgroup/warpgroup_product.cuh"
#include "../warpgroup/warpgroup_rows.cuh"
#include "warpgroup_f32_parts.cuh"

#include <cstdint>

namespace tessera::cuda {

template <class ModeValue, int kNumber>
struct WarpgroupF32Shape {
  using Mode = ModeValue;
  static constexpr WarpgroupF32Tile kTile = kWarpgroupF32Tiles[kNumber];
  static_assert(kTile.compute == Mode::kCompute);
  static constexpr int kM = WarpgroupF32Tile::kM, kN = kTile.n, kStages = kTile.stages, kCluster = kTile.cluster;
  static constexpr int kSlabs = kTile.slabs, kDepth = kTile.depth();
  static constexpr int kLoadRegisters = 56, kRegisters = 224;
  static constexpr int kPieces = WarpgroupF32Tile::kSlab / Mode::kWidth;  ///< of 16 bytes, along a slab
  static constexpr int kSlabBytesA = Mode::OfA::kParts * kPieces * kM * 16;
  static constexpr int kSlabBytesB = Mode::OfB::kParts * kPieces * kN * 16;
  static constexpr int kBytesA = kSlabs * kSlabBytesA, kBytesB = kSlabs * kSlabBytesB;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static_assert(kStageBytes == kTile.stage_bytes());
};

/// A slice of k of the tile that a block computes.
struct WarpgroupF32Work {
  GemmTile tile;
  int slice;
  int first_step, steps;
};

/// How blocks take work: the blocks of a cluster take tiles below one another, the same slice of each.
template <class Shape>
struct WarpgroupF32Order {
  const SlicedArguments<float>& x;
  std::int64_t units;  ///< of a cluster's work

  __device__ explicit WarpgroupF32Order(const SlicedArguments<float>& arguments) : x(arguments) {
    const GemmArguments<float>& g = x.g;
    const std::int64_t tiles = x.triangle.down > 0
                                   ? std::int64_t(x.triangle.tiles)
                                   : ceil_div(g.m, Shape::kM * Shape::kCluster) * ceil_div(g.n, Shape::kN);
    units = tiles * g.batch * x.slices;
  }
  __device__ WarpgroupF32Work at(std::int64_t unit, unsigned rank) const {
    const GemmArguments<float>& g = x.g;
    GemmTile tile = tile_of(unit / x.slices);
    tile.row += rank * Shape::kM;
    const int slice = int(unit % x.slices);
    const std::int64_t first = slice * x.k_per_slice, left = g.k - first;
    const std::int64_t ks = left < x.k_per_slice ? left : x.k_per_slice;
    return {tile, slice, int(first / Shape::kDepth), ks > 0 ? int(ceil_div(ks, Shape::kDepth)) : 0};
  }

 private:
  /// The cluster's.
  __device__ GemmTile tile_of(std::int64_t number) const {
    constexpr std::int64_t kRows = Shape::kM * Shape::kCluster;
    if (x.triangle.down == 0) return rasterized_tile(x.g, kRows, Shape::kN, number);
    const std::int64_t batch = number / x.triangle.tiles;
    const TriangleTiles::Place place = x.triangle.at(std::uint32_t(number - batch * x.triangle.tiles));
    return {place.row * kRows, std::int64_t(place.column) * Shape::kN, batch};
  }
};

/// The ring in shared memory: stages, and two barriers each, that it is full and that it is empty.
template <class Shape>
struct WarpgroupF32Ring {
  std::uint32_t stages, warps, barriers;
  int stage = 0;
  unsigned parity = 0;  ///< of the phase that the stage is in

  __device__ explicit WarpgroupF32Ring(std::uint32_t shared)
      : stages(shared),
        warps(shared + Shape::kStages * Shape::kStageBytes),
        barriers(warps + 8 * WarpgroupTile::kWarpBytes) {}
  __device__ std::uint32_t a() const { return stages + std::uint32_t(stage * Shape::kStageBytes); }
  __device__ std::uint32_t b() const { return a() + Shape::kBytesA; }
  __device__ std::uint32_t full() const { return barriers + 16u * unsigned(stage); }
  __device__ std::uint32_t empty() const { return full() + 8; }
  __device__ void advance() {
    if (++stage == Shape::kStages) stage = 0, parity ^= 1;
  }
};

/// Copies a piece of memory; kCluster: to the same place in all blocks of the cluster, whose barriers are told.
template <int kCluster>
__device__ __forceinline__ void copy_bulk(std::uint32_t shared, const unsigned char* from, unsigned bytes,
                                          std::uint32_t barrier) {
  if constexpr (kCluster > 1)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1], %2, [%3], %4;" ::"r"(shared),
        "l"(from), "r"(bytes), "r"(barrier), "h"(std::uint16_t((1 << kCluster) - 1))
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

/// Where a step begins of the block of kBlock lines that `line` is in; of the last block where it is beyond.
template <int kBlock, int kStepBytes>
__device__ __forceinline__ const unsigned char* step_of(const PartsOperand& o, std::int64_t matrix, std::int64_t line,
                                                        int step) {
  const int blocks = int(o.lines + kBlock - 1) / kBlock, block = min(int(line) / kBlock, blocks - 1);
  const int number = (o.matrices > 1 ? int(matrix) * blocks : 0) + block;
  return o.parts + (number * (o.slabs() / o.step_slabs) + step) * kStepBytes;
}

/// One thread: fills the ring by bulk copies. Each block of a cluster copies its tile of A, and its share of B to all.
template <class Shape>
__device__ void fill_ring(const WarpgroupF32Arguments& w, WarpgroupF32Ring<Shape> ring, std::int64_t first,
                          std::int64_t apart, unsigned rank) {
  constexpr int kShare = Shape::kBytesB / Shape::kCluster;
  const WarpgroupF32Order<Shape> order(w.x);
  for (std::int64_t unit = first; unit < order.units; unit += apart) {
    const WarpgroupF32Work work = order.at(unit, rank);
    const unsigned char* a = step_of<Shape::kM, Shape::kBytesA>(w.a, work.tile.batch, work.tile.row, work.first_step);
    const unsigned char* b =
        step_of<Shape::kN, Shape::kBytesB>(w.b, work.tile.batch, work.tile.column, work.first_step);
    b += rank * kShare;
    for (int step = 0; step < work.steps; ++step, a += Shape::kBytesA, b += Shape::kBytesB) {
      barrier_wait(ring.empty(), ring.parity ^ 1);
      barrier_expect(ring.full(), Shape::kStageBytes);
      copy_bulk<1>(ring.a(), a, Shape::kBytesA, ring.full());
      copy_bulk<Shape::kCluster>(ring.b() + rank * kShare, b, kShare, ring.full());
      ring.advance();
    }
  }
}

/// What a product instruction is told of an operand at a shared address whose pieces of 16 bytes lie in the order
/// along k, lines: without swizzle, eight lines are 128 bytes, and the next piece of a line is so many bytes away.
__device__ __forceinline__ std::uint64_t parts_descriptor(std::uint32_t address, int next_piece) {
  return std::uint64_t(address >> 4 & 0x3fff) | std::uint64_t(next_piece >> 4) << 16 | std::uint64_t(128 >> 4) << 32;
}

/// Issues the products of a step, with which the sums begin.
template <class Shape, int kSums>
__device__ __forceinline__ void multiply_step(float (&sums)[kSums], std::uint32_t a, std::uint32_t b) {
  using Mode = typename Shape::Mode;
  constexpr int kPair = 2;  // pieces of an instruction
  const auto add = [&](PartPair p, int slab, int piece, bool adds) {
    const int in_a = slab * Shape::kSlabBytesA + (p.a * Shape::kPieces + piece) * Shape::kM * 16;
    const int in_b = slab * Shape::kSlabBytesB + (p.b * Shape::kPieces + piece) * Shape::kN * 16;
    add_products<Shape::kN, 0, 0>(typename Mode::Part{}, sums, parts_descriptor(a + unsigned(in_a), Shape::kM * 16),
                                  parts_descriptor(b + unsigned(in_b), Shape::kN * 16), adds);
  };
#pragma unroll
  for (int pair = 0; pair < Mode::kProducts; ++pair)
#pragma unroll
    for (int slab = 0; slab < Shape::kSlabs; ++slab)
#pragma unroll
      for (int piece = 0; piece < Shape::kPieces; piece += kPair)
        add(Mode::product(pair), slab, piece, pair > 0 || slab > 0 || piece > 0);
}

/// Tells the compiler that the sums change here.
template <int kSums>
__device__ __forceinline__ void products_complete(float (&sums)[kSums]) {
#pragma unroll
  for (float& sum : sums) asm volatile("" : "+f"(sum)::"memory");
}

/// A tile's sums by carrying them over: the tensor cores cut off their sums instead of rounding them, so that these run
/// over a step alone, and are added to those of the steps before as f32. Where there are registers for it, the sums of
/// `steps_apart` are added up apart: the more numbers are added one after another, the more is lost by rounding.
template <class Shape, class Release, int kSums>
__device__ __forceinline__ void sum_carried(float (&sums)[kSums], const WarpgroupF32Work& work,
                                            WarpgroupF32Ring<Shape>& ring, const WarpgroupTurns& turns, int steps_apart,
                                            const Release& release) {
  constexpr bool kApart = kSums <= 64;
  const std::uint32_t rows = 64u * 16 * unsigned(turns.consumer);
  float step_sums[kSums] = {}, earlier[kApart ? kSums : 1] = {};
#pragma unroll
  for (float& sum : sums) sum = 0;
  int until_apart = 0;
#pragma unroll 1
  for (int step = 0; step < work.steps; ++step) {
    barrier_wait(ring.full(), ring.parity);
    turns.wait();
    products_fence();
    multiply_step<Shape>(step_sums, ring.a() + rows, ring.b());
    products_commit();
    turns.pass();
    products_wait<0>();
    products_complete(step_sums);
    release(ring.empty());
    if (kApart && --until_apart < 0) {
      until_apart = steps_apart - 1;
#pragma unroll
      for (int i = 0; i < kSums; ++i) earlier[kApart ? i : 0] += sums[i], sums[i] = step_sums[i];
    } else {
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] += step_sums[i];
    }
    ring.advance();
  }
  if constexpr (kApart)
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] += earlier[i];
}

/// s 2^e, rounded once.
__device__ __forceinline__ float times_power(float s, int e) {
  if (e >= -100 && e <= 100) return s * F16Parts::power(e);
  return float(double(s) * __hiloint2double((e + 1023) << 20, 0));
}

/// Undoes the scales of the warp's rows and the tile's columns.
template <class Shape, int kSums>
__device__ __forceinline__ void undo_scales(float (&sums)[kSums], const WarpgroupF32Arguments& w, const GemmTile& tile,
                                            int row) {
  const int lane = int(threadIdx.x) % 32;
  const std::int64_t first = tile.row + row + lane / 4;
  const int rows[2] = {w.a.scale_of(tile.batch, first), w.a.scale_of(tile.batch, first + 8)};
#pragma unroll
  for (int i = 0; i < kSums; i += 4)
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const int column = w.b.scale_of(tile.batch, tile.column + 2 * i + lane % 4 * 2 + side);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        sums[i + 2 * half + side] = times_power(sums[i + 2 * half + side], -(rows[half] + column));
    }
}

/// Computes again what is no finite number. An operand that is not finite makes all its sums NaN, since its parts are
/// Inf and NaN. `row`: the warp's first of the tile.
template <class Shape, int kSums>
__device__ __forceinline__ void recompute_sums(float (&sums)[kSums], const WarpgroupF32Arguments& w,
                                               const WarpgroupF32Work& work, int row) {
  const int lane = int(threadIdx.x) % 32;
  const auto operand = [&]<class T>(T, const PartsOperand& o, std::int64_t line) {
    return RecomputedOperand<T>{static_cast<const T*>(o.data) + work.tile.batch * o.stride, o.k_major ? o.ld : 1,
                                o.k_major ? 1 : o.ld, o.lines, line};
  };
  recompute<8>(sums, operand(typename Shape::Mode::OfA::Element{}, w.a, work.tile.row + row + lane / 4),
               operand(typename Shape::Mode::OfB::Element{}, w.b, work.tile.column + lane % 4 * 2), 0, w.x.g.k);
}

/// Writes a warp's 16 rows, the first of which is `row` of the tile. Where they need no C, bias and activation, they go
/// straight from registers: four threads write a sector.
template <class Shape, int kSums>
__device__ __forceinline__ void write_rows(unsigned char* memory, const float (&sums)[kSums],
                                           const SlicedArguments<float>& x, const WarpgroupF32Work& work, int row) {
  const GemmArguments<float>& g = x.g;
  const std::int64_t first = work.tile.row + row;
  const int rows = int(min(g.m - first, std::int64_t(16)));
  const int columns = int(min(g.n - work.tile.column, std::int64_t(Shape::kN)));
  if (rows <= 0) return;
  const bool to_partial = x.partial != nullptr;
  const TileTarget<float> target =
      target_of(x, {first, work.tile.column, work.tile.batch}, unsigned(work.slice), rows, columns, to_partial);
  if (target.epilogue.reads_c() || (g.finish && !to_partial) || !target.template aligned<2>() || x.triangle.down > 0)
    return write_any<Shape>(memory, sums, x, work.tile, work.slice, row);
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    const int column = 2 * i + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (lane / 4 + 8 * half < rows && column < columns)
        target.template store<2>(
            lane / 4 + 8 * half, column,
            target.epilogue(Vector<float, 2>{{sums[i + 2 * half], sums[i + 2 * half + 1]}}, Vector<float, 2>{}));
  }
}

/// A warpgroup: multiplies what comes, and writes its 64 rows of each tile.
template <class Shape>
__device__ void multiply_ring(const WarpgroupF32Arguments& w, WarpgroupF32Ring<Shape> ring, std::int64_t first,
                              std::int64_t apart, unsigned rank, unsigned char* shared_warps) {
  using Mode = typename Shape::Mode;
  const WarpgroupF32Order<Shape> order(w.x);
  const int consumer = int(threadIdx.x) / 128 - 1, thread = int(threadIdx.x) % 128, warp = thread / 32;
  const int row = 64 * consumer + 16 * warp;
  unsigned char* const memory = shared_warps + (4 * consumer + warp) * WarpgroupTile::kWarpBytes;
  const auto release = [&](std::uint32_t empty) {
    if constexpr (Shape::kCluster > 1)
      barrier_arrive_if(thread < Shape::kCluster, empty, unsigned(thread));
    else
      barrier_arrive_if(thread == 0, empty);
  };
  const WarpgroupTurns turns{consumer};
  float sums[Shape::kN / 2];
  turns.begin();
  for (std::int64_t unit = first; unit < order.units; unit += apart) {
    const WarpgroupF32Work work = order.at(unit, rank);
    sum_carried<Shape>(sums, work, ring, turns, w.steps_apart, release);
    if (work.steps > 0 && w.x.partial == nullptr) {  // else who adds the slices does it
      if constexpr (Mode::kScales) undo_scales<Shape>(sums, w, work.tile, row);
      recompute_sums<Shape>(sums, w, work, row);
    }
    write_rows<Shape>(memory, sums, w.x, work, row);
  }
  if (consumer == 0) turns.wait();  // the last turn, which nobody takes
}

template <class Shape>
__global__ void __launch_bounds__(WarpgroupF32Tile::kThreads, 1)
    gemm_warpgroup_f32_kernel(const __grid_constant__ WarpgroupF32Arguments w) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) unsigned char shared[];
  WarpgroupF32Ring<Shape> ring(shared_address(shared));
  const unsigned rank = Shape::kCluster > 1 ? cluster_rank() : 0;
  const std::int64_t first = blockIdx.x / Shape::kCluster, apart = gridDim.x / Shape::kCluster;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Shape::kStages; ++stage) {
      barrier_init(ring.barriers + 16u * unsigned(stage), 1);
      barrier_init(ring.barriers + 16u * unsigned(stage) + 8, 2 * Shape::kCluster);
    }
    barriers_ready();
  }
  if constexpr (Shape::kCluster > 1)
    cluster_sync();
  else
    __syncthreads();
  start_successor();
  wait_for_predecessor();  // which made the parts
  if (threadIdx.x < 128) {
    give_registers<Shape::kLoadRegisters>();
    if (threadIdx.x == 0) {
      asm volatile("fence.proxy.async.global;" ::: "memory");
      fill_ring<Shape>(w, ring, first, apart, rank);
    }
  } else {
    take_registers<Shape::kRegisters>();
    multiply_ring<Shape>(w, ring, first, apart, rank, shared + (ring.warps - ring.stages));
  }
  if constexpr (Shape::kCluster > 1) cluster_sync();  // nobody leaves while others copy to it, or tell it
#endif
}

/// Adds the sums of slices, then undoes the scales and computes again, over all of k, what is no finite number: the
/// bits are those of a block that has all slices.
template <class Mode>
__global__ void __launch_bounds__(kAddThreads) gemm_add_parts_kernel(const __grid_constant__ WarpgroupF32Arguments w) {
  add_slices<false>(w.x, [&](float sum, std::int64_t item, std::int64_t row, std::int64_t column) {
    if (w.x.g.k == 0) return sum;
    if constexpr (Mode::kScales) sum = times_power(sum, -(w.a.scale_of(item, row) + w.b.scale_of(item, column)));
    if (fabsf(sum) < INFINITY) return sum;
    const auto line = [item]<class T>(T, const PartsOperand& o, std::int64_t number) {
      return static_cast<const T*>(o.data) + item * o.stride + number * (o.k_major ? o.ld : 1);
    };
    return sum_in_f32(line(typename Mode::OfA::Element{}, w.a, row), w.a.k_major ? 1 : w.a.ld,
                      line(typename Mode::OfB::Element{}, w.b, column), w.b.k_major ? 1 : w.b.ld, 0, w.x.g.k);
  });
}

template <class Mode, int kNumber>
WarpgroupF32Kernels make_warpgroup_f32_kernels() {
  WarpgroupF32Kernels kernels{gemm_warpgroup_f32_kernel<WarpgroupF32Shape<Mode, kNumber>>, gemm_parts_kernel<Mode>,
                              nullptr, gemm_add_parts_kernel<Mode>};
  if constexpr (Mode::kScales) kernels.largest = gemm_largest_kernel<Mode>;
  return kernels;
}

}  // namespace tessera::cuda
