// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernel of warpgroup: one warpgroup lets bulk copies fill a ring of tiles, two others multiply them.
#pragma once

#include "../../early_start.cuh"
#include "../recompute_f32.cuh"
#include "../slices.cuh"
#include "warpgroup_finish.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_product.cuh"
#include "warpgroup_ring.cuh"
#include "warpgroup_rows.cuh"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::cuda {

/// Issues the products of a stage, of tiles at these places and so far behind them.
template <int kColumns, int kSteps, class T, class Shape>
__device__ __forceinline__ void multiply_stage(Scalar<T> (&sums)[Shape::kN / 2], std::uint32_t a, std::uint32_t b,
                                               std::uint32_t apart_a, std::uint32_t apart_b, bool adds) {
  products_fence();
#pragma unroll
  for (int step = 0; step < kSteps; ++step)
#pragma unroll
    for (int part = 0; part < 4; ++part)
      add_products<kColumns, !Shape::A::kKMajor, !Shape::B::kKMajor>(
          T{}, sums, Shape::A::descriptor(a + unsigned(step) * apart_a, part),
          Shape::B::descriptor(b + unsigned(step) * apart_b, part), adds || step > 0 || part > 0);
  products_commit();
}

/// The same with A, at an address, by registers. A part's products have ended before the next step's fragments take
/// their registers.
template <int kColumns, class Shape, class S>
__device__ __forceinline__ void multiply_fragments(S (&sums)[Shape::kN / 2], std::uint32_t (&fragments)[4][4],
                                                   std::uint32_t a, std::uint32_t b, bool adds) {
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    products_wait<3>();
    Shape::Place::template read_fragment<typename Shape::A>(fragments[part], a, part);
    products_fence();
    add_products<kColumns>(sums, fragments[part], Shape::B::descriptor(b, part), adds || part > 0);
    products_commit();
  }
}

/// All steps of a tile by instructions of kColumns; the last products are under way. Returns the barrier of the stage
/// that they read. `in_a`: where the warpgroup's rows begin in a stage.
template <int kColumns, int kSteps, class T, class Shape, class Release>
__device__ __forceinline__ std::uint32_t multiply_steps(Scalar<T> (&sums)[Shape::kN / 2], WarpgroupRing<Shape>& ring,
                                                        int steps, std::uint32_t in_a, const Release& release) {
  [[maybe_unused]] std::uint32_t fragments[4][4];
  // Places, from that of the first stage on: few instructions between the wait for a stage and its products.
  const std::uint32_t first_a = Shape::A::place(ring.stages + in_a),
                      first_b = Shape::B::place(ring.stages + unsigned(kSteps) * ring.a_bytes);
  const std::uint32_t apart = ring.stage_bytes >> 4, apart_a = ring.a_bytes >> 4, apart_b = ring.b_bytes >> 4;
  std::uint32_t read = 0;  // the stage before, which products may still read
  bool full = false;
#pragma unroll 1
  for (int step = 0; step < steps; step += kSteps) {
    if (!full) barrier_wait(ring.full(), ring.parity);
    const std::uint32_t to_stage = unsigned(ring.stage) * apart, reads = ring.empty();
    if constexpr (Shape::kFragments) {
      multiply_fragments<kColumns, Shape>(sums, fragments, ring.a() + in_a, first_b + to_stage, step > 0);
      ring.advance();
    } else {
      multiply_stage<kColumns, kSteps, T, Shape>(sums, first_a + to_stage, first_b + to_stage, apart_a, apart_b,
                                                 step > 0);
      ring.advance();
      full = barrier_passed(ring.full(), ring.parity);  // the answer takes its time, which products have
      products_wait<1>();                               // those of the stage before have read it
    }
    release(read, step > 0);
    read = reads;
  }
  return read;
}

/// Calls `with` with the narrowest instruction for so many columns, of multiples of kUnit. One jump: comparisons, each
/// in a line of code that nobody else uses, take longer.
template <int kUnit, class With>
__device__ __forceinline__ void with_width(int columns, const With& with) {
  const auto at = [&]<int kUnits>() {
    if constexpr (kUnits * kUnit <= WarpgroupTile::kMostColumns) with.template operator()<kUnits * kUnit>();
  };
  switch ((columns + kUnit - 1) / kUnit) {
    case 1:
      return at.template operator()<1>();
    case 2:
      return at.template operator()<2>();
    case 3:
      return at.template operator()<3>();
    case 4:
      return at.template operator()<4>();
    case 5:
      return at.template operator()<5>();
    case 6:
      return at.template operator()<6>();
    case 7:
      return at.template operator()<7>();
    case 8:
      return at.template operator()<8>();
    case 9:
      return at.template operator()<9>();
    case 10:
      return at.template operator()<10>();
    case 11:
      return at.template operator()<11>();
    case 12:
      return at.template operator()<12>();
    case 13:
      return at.template operator()<13>();
    case 14:
      return at.template operator()<14>();
    case 15:
      return at.template operator()<15>();
    case 16:
      return at.template operator()<16>();
    case 17:
      return at.template operator()<17>();
    case 18:
      return at.template operator()<18>();
    case 19:
      return at.template operator()<19>();
    case 20:
      return at.template operator()<20>();
    case 21:
      return at.template operator()<21>();
    case 22:
      return at.template operator()<22>();
    case 23:
      return at.template operator()<23>();
    case 24:
      return at.template operator()<24>();
    case 25:
      return at.template operator()<25>();
    case 26:
      return at.template operator()<26>();
    case 27:
      return at.template operator()<27>();
    case 28:
      return at.template operator()<28>();
    case 29:
      return at.template operator()<29>();
    case 30:
      return at.template operator()<30>();
    case 31:
      return at.template operator()<31>();
    case 32:
      return at.template operator()<32>();
  }
}

/// Sums of tf32 that are no finite numbers, from `row` on, of so many columns: see recompute().
template <class Shape, class S>
__device__ __forceinline__ void recompute_sums(S (&sums)[Shape::kN / 2], const SlicedArguments<S>& x,
                                               const WarpgroupWork& work, std::int64_t row, int columns) {
  const GemmArguments<S>& g = x.g;
  const std::int64_t first = std::int64_t(work.first_step) * Shape::kDepth;
  const std::int64_t last = min(first + x.k_per_slice, g.k), batch = work.tile.batch;
  recompute<Shape::Place::kHalf>(sums,
                                 RecomputedOperand<S>{g.a + batch * g.stride_a, Shape::A::kKMajor ? g.lda : 1,
                                                      Shape::A::kKMajor ? 1 : g.lda, g.m, row},
                                 RecomputedOperand<S>{g.b + batch * g.stride_b, g.ldb, 1, work.tile.column + columns,
                                                      work.tile.column + Shape::Place::column()},
                                 first, last);
}

/// A warpgroup: multiplies what comes, and writes its 64 rows of each tile, or of every other tile. kFixed: columns of
/// the instruction; 0: it is selected tile by tile.
template <int kFixed, class T, class Shape, WarpgroupWriting kWriting>
__device__ __forceinline__ void multiply_ring(const WarpgroupArguments<T>& w, WarpgroupRing<Shape> ring, unsigned first,
                                              unsigned apart, unsigned rank, unsigned char* shared) {
  // The blocks of a cluster add their slices of one tile: there are no turns to take.
  constexpr bool kSlices = kWriting == WarpgroupWriting::kSlices;
  const GemmArguments<T>& g = w.x.g;
  const unsigned below = unsigned(w.order.cluster.m), blocks = below * unsigned(w.order.cluster.n);
  // The same for all threads of a warp, as the compiler sees from the shuffle: descriptors need uniform registers.
  const int consumer = __shfl_sync(~0u, int(threadIdx.x) / 128 - 1, 0);
  const unsigned thread = threadIdx.x % 128;
  const bool half = w.tile.rows == WarpgroupTile::kRowsInTurns, turns = half && !kSlices;
  const bool idle = half && kSlices && consumer > 0;
  unsigned char* const memory = shared + (ring.warps - ring.stages) + 4 * consumer * WarpgroupTile::kWarpBytes;
  auto* const shared_bias = reinterpret_cast<Scalar<T>*>(shared + (ring.bias - ring.stages)) + consumer * Shape::kN;
  // Those that copy to this block are told: the blocks of its row and of its column in the cluster.
  const bool tells = thread < blocks && (thread % below == rank % below || thread / below == rank / below);
  const bool tells_here = tells && blocks == 1, tells_there = tells && blocks > 1;
  const auto release = [&](std::uint32_t empty, bool is_read) {
    barrier_arrive_if(tells_here && is_read, empty);
    if constexpr (!Shape::kSingle) barrier_arrive_if(tells_there && is_read, empty, thread);
  };
  Scalar<T> sums[Shape::kN / 2] = {};
  const int row = half ? 0 : 64 * consumer;
  const unsigned in_a = unsigned(row * WarpgroupTile::kRowBytes);
  const auto pass_over = [&](unsigned unit) {
    if (turns && unit < w.order.units) ring.pass_over(work_at<Shape>(w, unit, rank).steps);
  };
  // A stage is waited for by the parity of its phase: no warpgroup may be more than a phase ahead.
  const WarpgroupTurns turn{consumer};
  if (turns) turn.begin();  // before this warpgroup finds its own tile: the other waits for the turn
  if (turns && consumer == 1) pass_over(first), first += apart;
  const unsigned step = turns ? 2 * apart : apart;
  WarpgroupWork work = work_at<Shape>(w, first, rank);
  unsigned unit = first;
  const int thread_row = row + Shape::Place::row();
  const auto part_of_tile = [&] {
    return WarpgroupPart{work.tile, work.tile.row + row, work.tile.row + thread_row,
                         int(min(g.n - work.tile.column, std::int64_t(w.tile.columns))), work.slice};
  };
  constexpr bool kBulk = kWriting == WarpgroupWriting::kBulk;
  for (; unit < w.order.units; unit += step) {
    std::uint32_t read = 0;
    if constexpr (kBulk || kWriting == WarpgroupWriting::kWords)
      if (const bool reads_c = g.beta != Scalar<T>(0); reads_c || g.finish.aux.is_read()) {
        using Input = WarpgroupInput<T, Shape::Place::kTurned>;
        const WarpgroupPart part = part_of_tile();
        if (!Shape::kTriangle || !part.is_missed(w.order.triangle))
          (reads_c ? Input::c(memory, g, part) : Input::aux(memory, g, part)).begin(kBulk);
      }
    if (turns) turn.wait();
    const auto multiply = [&]<int kColumns>() {
      constexpr int kFewest = Shape::template kFewestSteps<kColumns>, kMost = Shape::template kMostSteps<kColumns>;
      if (kFewest == kMost || ring.steps == kFewest)
        read = multiply_steps<kColumns, kFewest, T, Shape>(sums, ring, work.steps, in_a, release);
      else
        read = multiply_steps<kColumns, kMost, T, Shape>(sums, ring, work.steps, in_a, release);
    };
    if constexpr (kFixed > 0) {
      if (!idle) multiply.template operator()<kFixed>();
    } else {
      if (!idle) with_width<Shape::kUnit>(w.tile.columns, multiply);
    }
    if (turns) turn.pass();
    pass_over(unit + apart);
    // The last products are under way.
    WarpgroupBias<T, Shape::kN> bias;
    if constexpr (!kSlices) bias.template read<Shape::Place::kHalf>(g, work.tile, thread_row);
    const WarpgroupPart part = part_of_tile();
    products_wait<0>();
    release(read, work.steps > 0 && !idle);
    if constexpr (sizeof(T) == sizeof(Scalar<T>)) recompute_sums<Shape>(sums, w.x, work, part.thread_row, part.columns);
    if constexpr (kSlices) {
      write_cluster<Shape>(shared, sums, w, work.tile, row, rank, !idle);
      if (unit + step < w.order.units) {  // whose copies come where the cluster has read
        fence_for_bulk_copies();
        cluster_sync();
      }
    } else
      write_tile<kWriting, Shape>(memory, sums, w, part, bias, shared_bias);
    if (!Shape::kTriangle || unit + step < w.order.units) work = work_at<Shape>(w, unit + step, rank);
  }
  if (turns && unit - apart < w.order.units) turn.wait();  // the last turn, which nobody takes
  if (kBulk && elected()) stores_wait();
}

/// The loading warpgroup of a block of slices: its threads meet those that write, who lay out sums in the ring.
/// load(unit, step) loads every so many units from one on.
template <class Shape, class T, class Load>
__device__ __forceinline__ void load_slices(const WarpgroupArguments<T>& w, WarpgroupRing<Shape>& ring, unsigned first,
                                            unsigned apart, unsigned rank, const Load& load) {
  for (unsigned unit = first; unit < w.order.units; unit += apart) {
    load(unit, w.order.units);
    ring.pass_over(work_at<Shape>(w, unit, rank).steps);
    __syncwarp();
    cluster_sync();
    if (unit + apart < w.order.units) cluster_sync();
  }
}

template <class T, class Shape, WarpgroupWriting kWriting>
__global__ void __launch_bounds__(WarpgroupTile::kThreads, 1)
    gemm_warpgroup_kernel(const __grid_constant__ WarpgroupArguments<T> w) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) unsigned char shared[];
  WarpgroupRing<Shape> ring(shared_address(shared), w);
  const WarpgroupCluster& cluster = w.order.cluster;
  const unsigned blocks = unsigned(cluster.m * cluster.n * cluster.k);
  const unsigned rank = blocks > 1 ? cluster_rank() : 0, first = blockIdx.x / blocks, apart = gridDim.x / blocks;
  if (threadIdx.x == 0 && !Shape::kSingle && w.x.g.k != 0) {
    prefetch_map(w.a.most(w.tile.rows));
    prefetch_map(w.b.most(w.tile.columns));
  }
  if (threadIdx.x < unsigned(w.stages)) {
    const unsigned writers = unsigned(cluster.m + cluster.n - 1);
    const unsigned readers = w.tile.rows == WarpgroupTile::kRowsInTurns ? 1 : Shape::kConsumers;
    const std::uint32_t barriers = ring.barriers + 16u * threadIdx.x;
    barrier_init(barriers, Shape::kSingle ? 128 : 1);
    barrier_init(barriers + 8, readers * writers);
    barriers_ready();
  }
  if (blocks > 1)
    cluster_sync();
  else
    __syncthreads();
  if (!w.tail) wait_for_predecessor();  // which may have made the operands, or read and written D
  start_successor();
  // The same for all threads of a warp, as the compiler sees from the shuffle.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0);
  if (warp < 4) {
    give_registers<Shape::kLoadRegisters>();
    const auto load = [&](unsigned unit, unsigned step) {
      if constexpr (Shape::kSingle)
        load_ring<T, Shape>(w, ring, unit, step, rank);
      else if (warp == 0)
        fill_ring<T, Shape>(w, ring, unit, step, rank);
    };
    if constexpr (kWriting == WarpgroupWriting::kSlices)
      load_slices<Shape>(w, ring, first, apart, rank, load);
    else
      load(first, apart);
  } else {
    take_registers<Shape::kRegisters>();
    // With fragments in registers, loops that meet in one epilogue would spill.
    if constexpr (Shape::kFragments)
      with_width<Shape::kUnit>(w.tile.columns, [&]<int kColumns>() {
        multiply_ring<kColumns, T, Shape, kWriting>(w, ring, first, apart, rank, shared);
      });
    else
      multiply_ring<0, T, Shape, kWriting>(w, ring, first, apart, rank, shared);
  }
  if (blocks > 1) cluster_sync();      // nobody leaves while others copy to it, or tell it
  if (w.tail) wait_for_predecessor();  // who waits for this launch waits for both
#endif
}

/// D of the type of sums is written in pairs alone. What is not turned in 16 bits has two ways alone, since each takes
/// the compiler seconds.
template <class T, class Shape, WarpgroupWriting kWriting>
constexpr typename WarpgroupKernels<T>::Kernel warpgroup_kernel() {
  using enum WarpgroupWriting;
  constexpr bool kWide = sizeof(T) == sizeof(Scalar<T>), kOf16Bits = kWriting == kBulk || kWriting == kWords;
  constexpr bool kFewWays = !kWide && !Shape::Place::kTurned, kOfFew = kWriting == kBulk || kWriting == kSlices;
  if constexpr ((kWide && kOf16Bits) || (Shape::kSingle && kWriting == kBulk) ||
                (kFewWays && (Shape::kSingle || !kOfFew)))
    return nullptr;
  else
    return gemm_warpgroup_kernel<T, Shape, kWriting>;
}
template <class T, class Shape>
constexpr typename WarpgroupKernels<T>::ByWriting warpgroup_kernels_by_writing() {
  using enum WarpgroupWriting;
  return {warpgroup_kernel<T, Shape, kBulk>(), warpgroup_kernel<T, Shape, kWords>(),
          warpgroup_kernel<T, Shape, kPairs>(), warpgroup_kernel<T, Shape, kSlices>()};
}

/// By whether they read operands element by element.
template <class T, WarpgroupLayout kLayout>
constexpr std::array<typename WarpgroupKernels<T>::Kernel, 2> warpgroup_triangle_kernels() {
  constexpr auto kWords = WarpgroupWriting::kWords;
  if constexpr (warpgroup_has_triangles<T>(kLayout))
    return {gemm_warpgroup_kernel<T, WarpgroupShape<T, kLayout, false, true>, kWords>,
            gemm_warpgroup_kernel<T, WarpgroupShape<T, kLayout, true, true>, kWords>};
  else
    return {nullptr, nullptr};
}

template <class T>
const WarpgroupKernels<T>& warpgroup_kernels() {
  static constexpr WarpgroupKernels<T> kKernels = []<std::size_t... kLayout>(std::index_sequence<kLayout...>) {
    constexpr auto& kLayouts = kWarpgroupLayouts<T>;
    return WarpgroupKernels<T>{{warpgroup_kernels_by_writing<T, WarpgroupShape<T, kLayouts[kLayout], false>>()...},
                               {warpgroup_kernels_by_writing<T, WarpgroupShape<T, kLayouts[kLayout], true>>()...},
                               {warpgroup_triangle_kernels<T, kLayouts[kLayout]>()...}};
  }
  (std::make_index_sequence<kWarpgroupLayouts<T>.size()>{});
  return kKernels;
}

}  // namespace tessera::cuda
