// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernel of warpgroup: one warpgroup lets bulk copies fill a ring of tiles, the others multiply them.
#pragma once

#include "../../early_start.cuh"
#include "../recompute_f32.cuh"
#include "../slices.cuh"
#include "warpgroup_finish.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"
#include "warpgroup_place.cuh"
#include "warpgroup_product.cuh"
#include "warpgroup_rows.cuh"

#include <cstddef>
#include <cstdint>
#include <utility>

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

/// How a block shares copies of an operand with blocks of its cluster: it copies one of `count` shares to all of them.
struct WarpgroupShare {
  int count, number;
  unsigned blocks;  ///< a bit for each of them; 0 where it is alone
};

/// A share of an operand's tile, of so many rows or columns: of these where it is K-major, else of k. Elements of f32
/// are rounded to tf32 on their way.
template <class Operand>
__device__ __forceinline__ void copy_operand(std::uint32_t shared, const WarpgroupMap& from, std::uint32_t barrier,
                                             int of_tile, int extent, int k, int batch, const WarpgroupShare& share) {
  const int matrix = from.varies ? batch : 0;
  const int first = (Operand::kKMajor ? of_tile : Operand::kLine) / share.count * share.number;
  shared += unsigned(first * 128);
  if constexpr (Operand::kKMajor) {
    copy_box(shared, from.map, barrier, k, extent + first, matrix, share.blocks);
  } else {
#pragma unroll 1
    for (int line = 0; line < of_tile; line += Operand::kLine)
      copy_box(shared + unsigned(line * 128), from.map, barrier, extent + line, k + first, matrix, share.blocks);
  }
}

/// One thread: fills the ring by bulk copies.
template <class T, class Shape>
__device__ void fill_ring(const WarpgroupArguments<T>& w, WarpgroupRing<Shape> ring, unsigned first, unsigned apart,
                          unsigned rank) {
  const unsigned below = unsigned(w.order.cluster.m), beside = unsigned(w.order.cluster.n);
  const unsigned row = rank % below, column = rank / below % beside;
  unsigned of_row = 0;
  for (unsigned block = 0; block < beside; ++block) of_row |= 1u << (row + block * below);
  const WarpgroupShare a{int(beside), int(column), beside > 1 ? of_row : 0};
  const WarpgroupShare b{int(below), int(row), below > 1 ? ((1u << below) - 1) << (column * below) : 0};
  for (unsigned unit = first; unit < w.order.units; unit += apart) {
    const WarpgroupWork work = work_at<Shape>(w, unit, rank);
    const int at_row = int(work.tile.row), at_column = int(work.tile.column), batch = int(work.tile.batch);
    for (int step = work.first_step; step < work.first_step + work.steps; ++step) {
      barrier_wait(ring.empty(), ring.parity ^ 1);
      barrier_expect(ring.full(), w.stage_bytes);
      const int k = step * Shape::kDepth;
      copy_operand<typename Shape::A>(ring.a(), w.a, ring.full(), w.tile.rows, at_row, k, batch, a);
      copy_operand<typename Shape::B>(ring.b(), w.b, ring.full(), w.tile.columns, at_column, k, batch, b);
      ring.advance();
    }
  }
}

/// 16 bytes of a tile from neighbours that begin anywhere, of which so many exist. Elements of f32 are rounded as bulk
/// copies round them: to nearest, ties to even.
template <class T>
__device__ __forceinline__ uint4 part_of(const T* from, std::int64_t exist) {
  constexpr int kInWord = 4 / int(sizeof(T));
  std::uint32_t words[4];
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    if constexpr (kInWord == 1) {
      words[word] = 0;
      if (word < exist) asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(words[word]) : "f"(from[word]));
    } else {
      words[word] =
          (2 * word < exist ? from[2 * word].bits : 0u) | (2 * word + 1 < exist ? from[2 * word + 1].bits : 0u) << 16;
    }
  }
  return {words[0], words[1], words[2], words[3]};
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
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared + std::uint32_t(Operand::offset(row, part))),
                 "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w)
                 : "memory");
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

/// Issues the products of a step. Those of the step before are under way; they have read their stage when this returns.
template <int kColumns, class T, class Shape>
__device__ __forceinline__ void multiply_step(Scalar<T> (&sums)[Shape::kN / 2], std::uint32_t stage_a,
                                              std::uint32_t stage_b, bool adds) {
  products_fence();
#pragma unroll
  for (int part = 0; part < 4; ++part)
    add_products<kColumns, !Shape::A::kKMajor, !Shape::B::kKMajor>(
        T{}, sums, Shape::A::descriptor(stage_a, part), Shape::B::descriptor(stage_b, part), adds || part > 0);
  products_commit();
  products_wait<1>();
}

/// The same with A by registers. A part's products have ended before the next step's fragments take their registers.
template <int kColumns, class Shape, class S>
__device__ __forceinline__ void multiply_fragments(S (&sums)[Shape::kN / 2], std::uint32_t (&fragments)[4][4],
                                                   std::uint32_t stage_a, std::uint32_t stage_b, bool adds) {
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    products_wait<3>();
    Shape::Place::template read_fragment<typename Shape::A>(fragments[part], stage_a, part);
    products_fence();
    add_products<kColumns>(sums, fragments[part], Shape::B::descriptor(stage_b, part), adds || part > 0);
    products_commit();
  }
}

/// All steps of a tile by instructions of kColumns; the last products are under way. Returns the barrier of the stage
/// that they read. `in_a`: where the warpgroup's rows begin in a stage.
template <int kColumns, class T, class Shape, class Release>
__device__ __forceinline__ std::uint32_t multiply_steps(Scalar<T> (&sums)[Shape::kN / 2], WarpgroupRing<Shape>& ring,
                                                        int steps, std::uint32_t in_a, const Release& release) {
  [[maybe_unused]] std::uint32_t fragments[4][4];
  std::uint32_t read = 0;  // the stage before, which products may still read
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    barrier_wait(ring.full(), ring.parity);
    if constexpr (Shape::kFragments)
      multiply_fragments<kColumns, Shape>(sums, fragments, ring.a() + in_a, ring.b(), step > 0);
    else
      multiply_step<kColumns, T, Shape>(sums, ring.a() + in_a, ring.b(), step > 0);
    if (step > 0) release(read);
    read = ring.empty();
    ring.advance();
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

/// Sums of tf32 that are no finite numbers, from `row` on: see recompute().
template <class Shape, class S>
__device__ __forceinline__ void recompute_sums(S (&sums)[Shape::kN / 2], const SlicedArguments<S>& x,
                                               const WarpgroupWork& work, std::int64_t row) {
  const GemmArguments<S>& g = x.g;
  const std::int64_t first = std::int64_t(work.first_step) * Shape::kDepth;
  const std::int64_t last = min(first + x.k_per_slice, g.k), batch = work.tile.batch;
  recompute<Shape::Place::kHalf>(
      sums, {g.a + batch * g.stride_a, Shape::A::kKMajor ? g.lda : 1, Shape::A::kKMajor ? 1 : g.lda, g.m, row},
      {g.b + batch * g.stride_b, g.ldb, 1, g.n, work.tile.column + Shape::Place::column()}, first, last);
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
  const bool half = (w.tile.rows == WarpgroupTile::kRowsInTurns), turns = half && !kSlices,
             idle = half && kSlices && consumer > 0;
  unsigned char* const memory = shared + (ring.warps - ring.stages) + 4 * consumer * WarpgroupTile::kWarpBytes;
  auto* const shared_bias = reinterpret_cast<Scalar<T>*>(shared + (ring.bias - ring.stages)) + consumer * Shape::kN;
  // Those that copy to this block are told: the blocks of its row and of its column in the cluster.
  const bool tells = thread < blocks && (thread % below == rank % below || thread / below == rank / below);
  const auto release = [&](std::uint32_t empty) {
    if (!tells) return;
    if (Shape::kSingle || blocks == 1)
      barrier_arrive(empty);
    else
      barrier_arrive(empty, thread);
  };
  Scalar<T> sums[Shape::kN / 2] = {};
  const int row = half ? 0 : 64 * consumer;
  const unsigned in_a = unsigned(row * WarpgroupTile::kRowBytes);
  const auto pass_over = [&](unsigned unit) {
    if (turns && unit < w.order.units) ring.advance(work_at<Shape>(w, unit, rank).steps);
  };
  // A stage is waited for by the parity of its phase: no warpgroup may be more than a phase ahead.
  const WarpgroupTurns turn{consumer};
  if (turns) turn.begin();  // before this warpgroup finds its own tile: the other waits for the turn
  if (turns && consumer == 1) pass_over(first), first += apart;
  const unsigned step = turns ? 2 * apart : apart;
  WarpgroupWork work = work_at<Shape>(w, first, rank);
  unsigned unit = first;
  for (; unit < w.order.units; unit += step) {
    std::uint32_t read = 0;
    if (turns) turn.wait();
    const auto multiply = [&]<int kColumns>() {
      read = multiply_steps<kColumns, T, Shape>(sums, ring, work.steps, in_a, release);
    };
    if (idle) {
    } else if constexpr (kFixed > 0) {
      multiply.template operator()<kFixed>();
    } else {
      with_width<Shape::kUnit>(w.tile.columns, multiply);
    }
    if (turns) turn.pass();
    pass_over(unit + apart);
    // The last products are under way.
    WarpgroupBias<T, Shape::kN> bias;
    const int thread_row = row + Shape::Place::row();
    if constexpr (!kSlices) bias.template read<Shape::Place::kHalf>(g, work.tile, thread_row);
    const WarpgroupPart part{work.tile, work.tile.row + row, work.tile.row + thread_row,
                             int(min(g.n - work.tile.column, std::int64_t(w.tile.columns))), work.slice};
    products_wait<0>();
    if (work.steps > 0 && !idle) release(read);
    if constexpr (sizeof(T) == sizeof(Scalar<T>)) recompute_sums<Shape>(sums, w.x, work, part.thread_row);
    if constexpr (kSlices)
      write_cluster<Shape>(shared, sums, w, work.tile, row, rank, !idle);
    else
      write_tile<kWriting, typename Shape::Place>(memory, sums, w, part, bias, shared_bias);
    work = work_at<Shape>(w, unit + step, rank);
  }
  if (turns && unit - apart < w.order.units) turn.wait();  // the last turn, which nobody takes
  if (kWriting == WarpgroupWriting::kBulk && thread % 32 == 0) stores_wait();
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
  if (threadIdx.x == 0 && !Shape::kSingle && w.x.g.k != 0) prefetch_map(w.a.map), prefetch_map(w.b.map);
  if (threadIdx.x < unsigned(w.stages)) {
    const unsigned writers = unsigned(cluster.m + cluster.n - 1);
    const unsigned readers = w.tile.rows == WarpgroupTile::kRowsInTurns ? 1 : Shape::kConsumers;
    const std::uint32_t barriers = ring.barriers + 16u * threadIdx.x;
    barrier_init(barriers, Shape::kSingle ? 128 : 1);
    barrier_init(barriers + 8, readers * writers);
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
  }
  if (blocks > 1)
    cluster_sync();
  else
    __syncthreads();
  if (!w.tail) wait_for_predecessor();  // which may have made the operands, or read and written D
  start_successor();
  if (threadIdx.x < 128) {
    give_registers<Shape::kLoadRegisters>();
    if constexpr (Shape::kSingle)
      load_ring<T, Shape>(w, ring, first, apart, rank);
    else if (threadIdx.x == 0)
      fill_ring<T, Shape>(w, ring, first, apart, rank);
    if constexpr (kWriting == WarpgroupWriting::kSlices) {  // with those that write
      __syncwarp();
      cluster_sync();
    }
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

/// D of the type of sums is written in pairs alone.
template <class T, class Shape, WarpgroupWriting kWriting>
constexpr typename WarpgroupKernels<T>::Kernel warpgroup_kernel() {
  using enum WarpgroupWriting;
  constexpr bool kOf16Bits = kWriting == kBulk || kWriting == kWords;
  if constexpr ((sizeof(T) == sizeof(Scalar<T>) && kOf16Bits) || (Shape::kSingle && kWriting == kBulk))
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

template <class T>
const WarpgroupKernels<T>& warpgroup_kernels() {
  static constexpr WarpgroupKernels<T> kKernels = []<std::size_t... kLayout>(std::index_sequence<kLayout...>) {
    constexpr auto& kLayouts = kWarpgroupLayouts<T>;
    return WarpgroupKernels<T>{{warpgroup_kernels_by_writing<T, WarpgroupShape<T, kLayouts[kLayout], false>>()...},
                               {warpgroup_kernels_by_writing<T, WarpgroupShape<T, kLayouts[kLayout], true>>()...}};
  }
  (std::make_index_sequence<kWarpgroupLayouts<T>.size()>{});
  return kKernels;
}

}  // namespace tessera::cuda
