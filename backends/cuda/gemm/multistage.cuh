// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product of tiles in a pipeline: while a block multiplies one tile of op(A) and op(B), the copies
/// of the next kStages - 1 are under way.
#pragma once

#include "../vector.cuh"
#include "gemm.cuh"
#include "slices.cuh"
#include "tile_loader.cuh"

#include <cooperative_groups.h>

#include <algorithm>
#include <span>
#include <type_traits>

namespace tessera::cuda {

/// Bands of rows of tiles, in a band down the rows first: blocks that run at the same time read few rows and few
/// columns, which stay in the L2. Where all of op(B) does, they go along the rows instead: then C is written in long
/// pieces, which memory takes a tenth faster (k = 64).
template <class T>
__device__ GemmTile banded_tile(const GemmArguments<T>& g, int tile_m, int tile_n, std::int64_t number) {
  constexpr std::int64_t kHeight = 16, kBytesThatStay = 8 << 20;
  const std::int64_t most = g.k * g.n * std::int64_t(sizeof(T)) <= kBytesThatStay ? 1 : kHeight;
  const std::int64_t rows = tiles_along(g.m, tile_m), columns = tiles_along(g.n, tile_n);
  const std::int64_t batch = number / (rows * columns), in_matrix = number % (rows * columns);
  const std::int64_t band = in_matrix / (most * columns), in_band = in_matrix % (most * columns);
  const std::int64_t height = rows - band * most < most ? rows - band * most : most;
  return {(band * most + in_band % height) * tile_m, in_band / height * tile_n, batch};
}

template <class Core, int kStages>
struct MultistageMemory {
  static constexpr int kStageElements = Core::LayoutA::kElements + Core::LayoutB::kElements;
  static constexpr int kPitch = Core::kN + Core::kTilePad;  ///< of the tile of C that takes their place at the end
  /// No more than needed: the rest is the first-level cache.
  static constexpr int kBytes = std::max(kStages * kStageElements, Core::kM* kPitch) * int(sizeof(typename Core::T));
};

/// Puts a thread's sums into the block's tile of C in shared memory. `one`: 1, unknown to the compiler. A vector store
/// of the sums themselves would tie them to neighbouring registers in the main loop, where multiply-adds then find
/// their operands in one bank of the register file: 8 % of its time.
template <class Core, int kPitch>
__device__ __forceinline__ void store_tile(const Core& core, typename Core::T* tile, typename Core::T one) {
  constexpr int kWidth = Core::kPieceWidth;
  using Piece = Vector<typename Core::T, kWidth>;
#pragma unroll
  for (int piece = 0; piece < Core::kPieces; ++piece) {
    Piece sums;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sums.value[e] = core.element(piece, e) * one;
    *reinterpret_cast<Piece*>(tile + core.row(piece) * kPitch + core.column(piece)) = sums;
  }
}

/// Where a block's tile of C goes.
template <class T>
struct TileTarget {
  T* c;  ///< its first element
  std::int64_t ldc;
  int rows, columns;  ///< that exist
  Epilogue<T> epilogue;
};

/// Writes sums of neighbours in a row to a place of C.
template <class T, int kWidth>
__device__ __forceinline__ void write_piece(const TileTarget<T>& target, int row, int column, Vector<T, kWidth> sum) {
  if (row >= target.rows || column >= target.columns) return;
  auto* const c = reinterpret_cast<Vector<T, kWidth>*>(target.c + row * target.ldc + column);
  const Vector<T, kWidth> before = target.epilogue.reads_c() ? *c : Vector<T, kWidth>{};
#pragma unroll
  for (int e = 0; e < kWidth; ++e) sum.value[e] = target.epilogue(sum.value[e], before.value[e]);
  *c = sum;
}

/// Writes a thread's sums from its registers, in pieces of whole sectors where C is aligned to them.
template <class Core>
__device__ __forceinline__ void write_sums(const Core& core, const TileTarget<typename Core::T>& target) {
#pragma unroll
  for (int piece = 0; piece < Core::kPieces; ++piece) {
    Vector<typename Core::T, Core::kPieceWidth> sum;
#pragma unroll
    for (int e = 0; e < Core::kPieceWidth; ++e) sum.value[e] = core.element(piece, e);
    write_piece(target, core.row(piece), core.column(piece), sum);
  }
}

/// Writes the tile row by row, kWidth neighbours a thread. A cluster's blocks hold sums of other slices of the same
/// tile: each takes a share of the pieces and adds them in the order of the slices.
template <class Core, int kPitch, bool kCluster, int kWidth>
__device__ __forceinline__ void write_tile(const typename Core::T* tile, int slices,
                                           const TileTarget<typename Core::T>& target) {
  using T = typename Core::T;
  using Piece = Vector<T, kWidth>;
  constexpr int kAcross = Core::kN / kWidth, kPieces = Core::kM * kAcross;
  int rank = 0;
#if __CUDA_ARCH__ >= 900
  if constexpr (kCluster) rank = int(cooperative_groups::this_cluster().block_rank());
#endif
#pragma unroll 4
  for (int piece = rank * Core::kThreads + int(threadIdx.x); piece < kPieces;
       piece += (kCluster ? slices : 1) * Core::kThreads) {
    const int row = piece / kAcross, column = piece % kAcross * kWidth;
    const T* const place = tile + row * kPitch + column;
    Piece sum{};
    if constexpr (!kCluster) sum = *reinterpret_cast<const Piece*>(place);
#if __CUDA_ARCH__ >= 900
    if constexpr (kCluster)
      for (int slice = 0; slice < slices; ++slice) {
        const Piece part =
            *reinterpret_cast<const Piece*>(cooperative_groups::this_cluster().map_shared_rank(place, unsigned(slice)));
#pragma unroll
        for (int e = 0; e < kWidth; ++e) sum.value[e] += part.value[e];
      }
#endif
    write_piece(target, row, column, sum);
  }
}

/// kVectorA, kVectorB: elements a copy, what the operands' alignment allows.
/// kCluster: the slices of a tile are a cluster (a kernel of its own, since the code that adds them costs
/// the loop registers).
template <class Core, int kStages, int kMinBlocks, int kVectorA, int kVectorB, bool kCluster>
__global__ void __launch_bounds__(Core::kThreads, kMinBlocks)
    gemm_multistage_kernel(const __grid_constant__ SlicedArguments<typename Core::T> arguments) {
  using T = typename Core::T;
  using LayoutA = typename Core::LayoutA;
  using LayoutB = typename Core::LayoutB;
  constexpr int kStageElements = MultistageMemory<Core, kStages>::kStageElements;
  constexpr bool kADepth = Core::kADepth, kBDepth = Core::kBDepth;
  constexpr int kPitch = MultistageMemory<Core, kStages>::kPitch;
  extern __shared__ __align__(128) unsigned char shared[];
  T* const stages = reinterpret_cast<T*>(shared);

  const GemmArguments<T>& g = arguments.g;
  const unsigned slices = unsigned(arguments.slices), slice = blockIdx.x % slices;
  const GemmTile tile = banded_tile(g, Core::kM, Core::kN, blockIdx.x / slices);
  const int rows_left = int(g.m - tile.row < Core::kM ? g.m - tile.row : Core::kM);
  const int columns_left = int(g.n - tile.column < Core::kN ? g.n - tile.column : Core::kN);
  const std::int64_t first = slice * arguments.slice_depth;
  const std::int64_t depth = g.k - first < arguments.slice_depth ? g.k - first : arguments.slice_depth;
  using LoaderA = TileLoader<T, LayoutA, kADepth, kVectorA, Core::kThreads>;
  using LoaderB = TileLoader<T, LayoutB, kBDepth, kVectorB, Core::kThreads>;
  LoaderA load_a(g.a + tile.batch * g.stride_a + (kADepth ? tile.row * g.lda + first : first * g.lda + tile.row), g.lda,
                 rows_left);
  LoaderB load_b(g.b + tile.batch * g.stride_b + (kBDepth ? tile.column * g.ldb + first : first * g.ldb + tile.column),
                 g.ldb, columns_left);
  // Tiles along the depth, and what exists of the last one.
  const int tiles = depth > 0 ? int((depth + Core::kDepth - 1) / Core::kDepth) : 0;
  const int rest = int(depth - std::int64_t(tiles - 1) * Core::kDepth);
  int to_load = tiles;
  // Part `part` of `parts` of the copies of the next tile. Beyond the last tile they are zeros: without
  // a branch the compiler can move them between the products.
  const auto load = [&](int stage, int part, int parts) {
    constexpr int kCopies = LoaderA::kCopies + LoaderB::kCopies;
    T* const tile_a = stages + stage * kStageElements;
    const int left = to_load > 1 ? Core::kDepth : to_load == 1 ? rest : 0;
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy)
      if (copy * parts / kCopies == part) {
        if (copy < LoaderA::kCopies)
          load_a.copy(tile_a, left, copy);
        else
          load_b.copy(tile_a + LayoutA::kElements, left, copy - LoaderA::kCopies);
      }
    if (part == parts - 1) {
      --to_load;
      cp_async_commit();
    }
  };

  Core core;
  typename Core::Fragment fragments[2];
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) load(stage, 0, 1);
  cp_async_wait<kStages - 2>();
  __syncthreads();
  core.read(fragments[0], stages, stages + LayoutA::kElements, 0);

  int stage = 0;
  for (int left = tiles; left > 0; --left) {
    const T* tile = stages + stage * kStageElements;
    const int next = stage + 1 == kStages ? 0 : stage + 1;
#pragma unroll
    for (int step = 0; step < Core::kSteps; ++step) {
      if (step == Core::kSteps - 1) {  // the next step's operands lie in the next tile
        cp_async_wait<kStages - 2>();
        __syncthreads();
        tile = stages + next * kStageElements;
      }
      core.read(fragments[(step + 1) % 2], tile, tile + LayoutA::kElements, (step + 1) % Core::kSteps);
      constexpr int kParts = Core::template kCopyParts<kCluster>, kEvery = (Core::kSteps - 1) / kParts;
      if (step % kEvery == 0 && step / kEvery < kParts)
        load(stage == 0 ? kStages - 1 : stage - 1, step / kEvery, kParts);  // the one that was read last
      core.multiply(fragments[step % 2]);
    }
    stage = next;
  }

  const bool to_partial = !kCluster && slices > 1;
  const std::int64_t ldc = to_partial ? arguments.partial_ld : g.ldc;
  T* const c =
      (to_partial ? arguments.partial + (slice * g.batch + tile.batch) * g.m * ldc : g.c + tile.batch * g.stride_c) +
      tile.row * ldc + tile.column;
  const TileTarget<T> target{c, ldc, rows_left, columns_left, to_partial ? Epilogue<T>() : Epilogue<T>(g)};
  const auto synchronize = [] {
#if __CUDA_ARCH__ >= 900
    if constexpr (kCluster) return cooperative_groups::this_cluster().sync();
#endif
    __syncthreads();
  };
  constexpr int kWidth = 16 / int(sizeof(T));
  const bool aligned = reinterpret_cast<std::uintptr_t>(c) % 16 == 0 && ldc % kWidth == 0 && columns_left % kWidth == 0;
  if (!kCluster && aligned) return write_sums(core, target);
  // Single elements in the order of the registers would be parts of sectors, and take twice the time: they pass through
  // shared memory, where they overwrite what was read, and where the last copies, of zeros beyond the last tile, go.
  cp_async_wait<0>();
  __syncthreads();
  store_tile<Core, kPitch>(core, stages, T(g.k >= 0));
  synchronize();
  if (kCluster && aligned)
    write_tile<Core, kPitch, kCluster, kWidth>(stages, int(slices), target);
  else
    write_tile<Core, kPitch, kCluster, 1>(stages, int(slices), target);
  if constexpr (kCluster) synchronize();  // nobody leaves while others read its sums
}

/// What a plan needs to know of a tile's kernels: [cluster][trans_a][trans_b], for operands that may be
/// copied 16 bytes at a time and for any. Null where the tile is not for those operands.
template <class T>
struct MultistageKernels {
  using Kernel = void (*)(SlicedArguments<T>);
  int m, n, depth, threads;
  int shared_bytes;
  Kernel wide[2][2][2], narrow[2][2][2];
};

/// Tile::Core<kADepth, kBDepth>: the core of a tile's kernels; void where the tile is not for those operands.
template <class Tile, int kStages, int kMinBlocks>
auto multistage_kernels_of() {
  MultistageKernels<typename Tile::T> kernels{};
  const auto add = [&]<bool kCluster, bool kTransA, bool kTransB>() {
    using C = typename Tile::template Core<!kTransA, kTransB>;
    if constexpr (!std::is_void_v<C>) {
      using Memory = MultistageMemory<C, kStages>;
      kernels.m = C::kM, kernels.n = C::kN, kernels.depth = C::kDepth, kernels.threads = C::kThreads;
      kernels.wide[kCluster][kTransA][kTransB] =
          gemm_multistage_kernel<C, kStages, kMinBlocks, C::kWideA, C::kWideB, kCluster>;
      kernels.narrow[kCluster][kTransA][kTransB] = gemm_multistage_kernel<C, kStages, kMinBlocks, 1, 1, kCluster>;
      kernels.shared_bytes = std::max(kernels.shared_bytes, Memory::kBytes);
    }
  };
  const auto add_all = [&]<bool kCluster>() {
    add.template operator()<kCluster, false, false>();
    add.template operator()<kCluster, false, true>();
    add.template operator()<kCluster, true, false>();
    add.template operator()<kCluster, true, true>();
  };
  add_all.template operator()<false>();
  add_all.template operator()<true>();
  return kernels;
}

std::span<const MultistageKernels<float>> multistage_kernels(std::type_identity<float>);    // multistage_f32.cu
std::span<const MultistageKernels<double>> multistage_kernels(std::type_identity<double>);  // multistage_f64.cu

}  // namespace tessera::cuda
