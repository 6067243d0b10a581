// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernel of warpgroup: one warpgroup lets bulk copies fill a ring of tiles, the others multiply them.
#pragma once

#include "rasterization.cuh"
#include "slices.cuh"
#include "warpgroup_finish.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"
#include "warpgroup_product.cuh"

#include <cstdint>

namespace tessera::cuda {

/// A slice of k of the tile that a block computes.
struct WarpgroupWork {
  GemmTile tile;
  int slice;
  int first_step, steps;  ///< of 64 of k
};

/// How blocks take work: the blocks of a cluster take tiles below one another, the same slice of each.
template <class T, class Tile>
struct WarpgroupOrder {
  const SlicedArguments<T>& x;
  std::int64_t units;  ///< of a cluster's work

  __device__ explicit WarpgroupOrder(const SlicedArguments<T>& arguments) : x(arguments) {
    const GemmArguments<T>& g = x.g;
    units = ceil_div(g.m, Tile::kM * Tile::kCluster) * ceil_div(g.n, Tile::kN) * g.batch * x.slices;
  }
  __device__ WarpgroupWork at(std::int64_t unit, unsigned rank) const {
    const GemmArguments<T>& g = x.g;
    GemmTile tile = rasterized_tile(g, Tile::kM * Tile::kCluster, Tile::kN, unit / x.slices);
    tile.row += rank * Tile::kM;
    const int slice = int(unit % x.slices);
    const std::int64_t first = slice * x.k_per_slice, left = g.k - first;
    const std::int64_t ks = left < x.k_per_slice ? left : x.k_per_slice;
    return {tile, slice, int(first / Tile::kDepth), ks > 0 ? int(ceil_div(ks, Tile::kDepth)) : 0};
  }
};

template <int kNumber, bool kKMajorA, bool kKMajorB>
struct WarpgroupShape {
  static constexpr WarpgroupTile kTile = kWarpgroupTiles[kNumber];
  static constexpr int kM = kTile.m(), kN = kTile.n, kStages = kTile.stages, kCluster = kTile.cluster;
  static constexpr int kDepth = WarpgroupTile::kDepth, kConsumers = kTile.consumers;
  using A = WarpgroupOperand<kM, kKMajorA>;
  using B = WarpgroupOperand<kN, kKMajorB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  static_assert(kStageBytes == kTile.stage_bytes());
};

/// The ring in shared memory: stages, and two barriers each, that it is full and that it is empty.
template <class Shape>
struct WarpgroupRing {
  std::uint32_t stages, warps, barriers;
  int stage = 0;
  unsigned parity = 0;  ///< of the phase that the stage is in

  __device__ explicit WarpgroupRing(std::uint32_t shared)
      : stages(shared),
        warps(shared + Shape::kStages * Shape::kStageBytes),
        barriers(warps + 4 * Shape::kConsumers * WarpgroupTile::kWarpBytes) {}
  __device__ std::uint32_t a() const { return stages + std::uint32_t(stage * Shape::kStageBytes); }
  __device__ std::uint32_t b() const { return a() + Shape::A::kBytes; }
  __device__ std::uint32_t full() const { return barriers + 16u * unsigned(stage); }
  __device__ std::uint32_t empty() const { return full() + 8; }
  __device__ void advance() {
    if (++stage == Shape::kStages) stage = 0, parity ^= 1;
  }
};

/// Copies the share of an operand's tile that a block copies: all, or for all blocks of the cluster a part.
template <int kCluster, class Operand>
__device__ __forceinline__ void copy_operand(std::uint32_t shared, const CUtensorMap& map, std::uint32_t barrier,
                                             std::int64_t extent, int k, int shift, int matrix, unsigned rank) {
  constexpr int kShare = Operand::kExtent / kCluster;
  const int first = kCluster > 1 ? int(rank) * kShare : 0;
  const std::uint32_t place = shared + std::uint32_t(first / 64 * Operand::kBlockBytes);
  static_assert(kShare % 64 == 0);
  if constexpr (Operand::kKMajor)
    copy_box<kCluster>(place, map, barrier, k + shift, int(extent) + first, matrix);
  else
#pragma unroll
    for (int block = 0; block < kShare / 64; ++block)
      copy_box<kCluster>(place + block * Operand::kBlockBytes, map, barrier, int(extent) + first + 64 * block + shift, k,
                         matrix);
}

/// One thread: fills the ring.
template <class T, class Shape>
__device__ void fill_ring(const WarpgroupArguments<T>& w, WarpgroupRing<Shape> ring, std::int64_t first,
                          std::int64_t apart, unsigned rank) {
  const WarpgroupOrder<T, Shape> order(w.x);
  for (std::int64_t unit = first; unit < order.units; unit += apart) {
    const WarpgroupWork work = order.at(unit, rank);
    const int matrix_a = w.a_varies ? int(work.tile.batch) : 0, matrix_b = w.b_varies ? int(work.tile.batch) : 0;
    for (int step = work.first_step; step < work.first_step + work.steps; ++step) {
      barrier_wait(ring.empty(), ring.parity ^ 1);
      barrier_expect(ring.full(), Shape::kStageBytes);
      const int k = step * Shape::kDepth;
      copy_operand<1, typename Shape::A>(ring.a(), w.map_a, ring.full(), work.tile.row, k, w.shift_a, matrix_a, 0);
      copy_operand<Shape::kCluster, typename Shape::B>(ring.b(), w.map_b, ring.full(), work.tile.column, k, w.shift_b,
                                                       matrix_b, rank);
      ring.advance();
    }
  }
}

/// A warpgroup: multiplies what comes, and writes its 64 rows of each tile.
template <class T, class Shape, bool kPlain>
__device__ void multiply_ring(const WarpgroupArguments<T>& w, WarpgroupRing<Shape> ring, std::int64_t first,
                              std::int64_t apart, unsigned rank, unsigned char* shared_warps) {
  const WarpgroupOrder<T, Shape> order(w.x);
  const int consumer = int(threadIdx.x) / 128 - 1, thread = int(threadIdx.x) % 128;
  const auto release = [&](std::uint32_t empty) {
    if (thread < Shape::kCluster) barrier_arrive(empty, unsigned(thread));
  };
  float sums[Shape::kN / 2];
  for (std::int64_t unit = first; unit < order.units; unit += apart) {
    const WarpgroupWork work = order.at(unit, rank);
#pragma unroll
    for (float& sum : sums) sum = 0;
    std::uint32_t read = 0;  // the stage before, which products may still read
    for (int step = 0; step < work.steps; ++step) {
      barrier_wait(ring.full(), ring.parity);
      const std::uint64_t a = Shape::A::descriptor(ring.a(), 64 * consumer), b = Shape::B::descriptor(ring.b(), 0);
      products_fence();
#pragma unroll
      for (int part = 0; part < Shape::kDepth / 16; ++part)
        add_products<!Shape::A::kKMajor, !Shape::B::kKMajor>(T{}, sums, a + part * Shape::A::kStep,
                                                             b + part * Shape::B::kStep);
      products_commit();
      products_wait<1>();
      if (step > 0) release(read);
      read = ring.empty();
      ring.advance();
    }
    products_wait<0>();
    if (work.steps > 0) release(read);
    const int warp = thread / 32;
    const WarpRows<Shape::kN> rows{shared_warps + (4 * consumer + warp) * WarpgroupTile::kWarpBytes};
    if constexpr (kPlain)
      write_plain(rows, sums, w.x, work.tile, 64 * consumer + 16 * warp);
    else
      write_any(rows, sums, w.x, work.tile, work.slice, 64 * consumer + 16 * warp);
  }
}

/// kPlain: for arguments without C, bias and activation, D of 16 bits, whose rows begin at multiples of 16 bytes.
template <class T, class Shape, bool kPlain>
__global__ void __launch_bounds__(Shape::kTile.threads(), 1)
    gemm_warpgroup_kernel(const __grid_constant__ WarpgroupArguments<T> w) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) unsigned char shared[];
  WarpgroupRing<Shape> ring(shared_address(shared));
  const unsigned rank = Shape::kCluster > 1 ? cluster_rank() : 0;
  const std::int64_t first = blockIdx.x / Shape::kCluster, apart = gridDim.x / Shape::kCluster;
  if (threadIdx.x == 0) {
    prefetch_map(w.map_a), prefetch_map(w.map_b);
    for (int stage = 0; stage < Shape::kStages; ++stage) {
      barrier_init(ring.barriers + 16u * unsigned(stage), 1);
      barrier_init(ring.barriers + 16u * unsigned(stage) + 8, Shape::kConsumers * Shape::kCluster);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
  }
  if constexpr (Shape::kCluster > 1)
    cluster_sync();
  else
    __syncthreads();
  if (threadIdx.x < 128) {
    give_registers<Shape::kConsumers == 2 ? 40 : 56>();
    if (threadIdx.x == 0) fill_ring<T, Shape>(w, ring, first, apart, rank);
  } else {
    take_registers<Shape::kConsumers == 2 ? 232 : 240>();
    multiply_ring<T, Shape, kPlain>(w, ring, first, apart, rank, shared + (ring.warps - ring.stages));
  }
  if constexpr (Shape::kCluster > 1) cluster_sync();  // nobody leaves while others copy to it, or tell it
#endif
}

template <class T, int kNumber>
WarpgroupKernels<T> warpgroup_kernels_of() {
  WarpgroupKernels<T> kernels{};
  const auto add = [&]<bool kPlain, bool kTransA, bool kTransB>() {
    kernels.kernels[kPlain][kTransA][kTransB] =
        gemm_warpgroup_kernel<T, WarpgroupShape<kNumber, !kTransA, kTransB>, kPlain>;
  };
  const auto add_all = [&]<bool kPlain>() {
    add.template operator()<kPlain, false, false>();
    add.template operator()<kPlain, false, true>();
    add.template operator()<kPlain, true, false>();
    add.template operator()<kPlain, true, true>();
  };
  add_all.template operator()<false>();
  add_all.template operator()<true>();
  return kernels;
}

}  // namespace tessera::cuda
