// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product of tiles in a pipeline: while a block multiplies one tile of op(A) and op(B), the copies
/// of the next kStages - 1 are under way.
#pragma once

#include "gemm.cuh"
#include "slices.cuh"
#include "tile_loader.cuh"

#include <cooperative_groups.h>

#include <algorithm>
#include <span>
#include <type_traits>

namespace tessera::cuda {

/// Bands of kBand rows of tiles, in a band down the rows first: blocks that run at the same time
/// read few rows and few columns, which stay in the L2.
__device__ inline GemmTile banded_tile(std::int64_t m, std::int64_t n, int tile_m, int tile_n, std::int64_t number) {
  constexpr std::int64_t kBand = 16;
  const std::int64_t rows = tiles_along(m, tile_m), columns = tiles_along(n, tile_n);
  const std::int64_t batch = number / (rows * columns), in_matrix = number % (rows * columns);
  const std::int64_t band = in_matrix / (kBand * columns), in_band = in_matrix % (kBand * columns);
  const std::int64_t height = rows - band * kBand < kBand ? rows - band * kBand : kBand;
  return {(band * kBand + in_band % height) * tile_m, in_band / height * tile_n, batch};
}

/// Writes a piece of neighbours in a row of C, of which `left` exist.
template <class T, int kWidth>
__device__ __forceinline__ void write_piece(T* c, const T (&sum)[kWidth], int left, bool aligned,
                                            const Epilogue<T>& epilogue) {
  struct alignas(kWidth * sizeof(T)) Vector {
    T value[kWidth];
  };
  Vector v{};
  if (aligned && left >= kWidth) {
    if (epilogue.reads_c()) v = *reinterpret_cast<const Vector*>(c);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) v.value[e] = epilogue(sum[e], v.value[e]);
    *reinterpret_cast<Vector*>(c) = v;
  } else {
#pragma unroll
    for (int e = 0; e < kWidth; ++e)
      if (e < left) epilogue.write(c + e, sum[e]);
  }
}

template <class Core, int kStages>
struct MultistageMemory {
  static constexpr int kStageElements = Core::LayoutA::kElements + Core::LayoutB::kElements;
  static constexpr int kBytes = kStages * kStageElements * int(sizeof(typename Core::T));
  /// Where a cluster adds the tile's sums at the end. No more than needed: the rest is the first-level cache.
  static constexpr int kClusterBytes = std::max(kBytes, Core::kM* Core::kN* int(sizeof(typename Core::T)));
};

/// Adds the sums of a cluster's blocks, each of which has the same tile and another slice, in the order
/// of the slices, and hands each piece to write(piece, sum): every block takes its share of the pieces.
/// `shared`: kM x kN elements that no thread of the block uses any more. `one`: 1, unknown to the compiler. A
/// vector store of the sums themselves would tie them to neighbouring registers in the main loop, where
/// multiply-adds then find their operands in one bank of the register file: 8 % of its time.
template <class Core, class Write>
__device__ __forceinline__ void add_in_cluster(const Core& core, typename Core::T* shared, int slices,
                                               typename Core::T one, Write&& write) {
#if __CUDA_ARCH__ >= 900
  namespace cg = cooperative_groups;
  using T = typename Core::T;
  constexpr int kWidth = Core::kPieceWidth;
  struct alignas(kWidth * sizeof(T)) Vector {
    T value[kWidth];
  };
  const cg::cluster_group cluster = cg::this_cluster();
  Vector* const mine = reinterpret_cast<Vector*>(shared) + threadIdx.x;
#pragma unroll
  for (int piece = 0; piece < Core::kPieces; ++piece)
#pragma unroll
    for (int e = 0; e < kWidth; ++e) mine[piece * Core::kThreads].value[e] = core.element(piece, e) * one;
  cluster.sync();
  for (int piece = int(cluster.block_rank()); piece < Core::kPieces; piece += slices) {
    T sum[kWidth]{};
    for (int slice = 0; slice < slices; ++slice) {
      const Vector part = cluster.map_shared_rank(mine, unsigned(slice))[piece * Core::kThreads];
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum[e] += part.value[e];
    }
    write(piece, sum);
  }
  cluster.sync();  // nobody leaves, or reuses its memory, while others read it
#endif
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
  constexpr int kWidth = Core::kPieceWidth;
  extern __shared__ __align__(128) unsigned char shared[];
  T* const stages = reinterpret_cast<T*>(shared);

  const GemmArguments<T>& g = arguments.g;
  const unsigned slices = unsigned(arguments.slices), slice = blockIdx.x % slices;
  const GemmTile tile = banded_tile(g.m, g.n, Core::kM, Core::kN, blockIdx.x / slices);
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
  const bool aligned = reinterpret_cast<std::uintptr_t>(c) % (kWidth * sizeof(T)) == 0 && ldc % kWidth == 0;
  const Epilogue<T> epilogue = to_partial ? Epilogue<T>() : Epilogue<T>(g);
  const auto write = [&](int piece, const T(&sum)[kWidth]) {
    const int row = core.row(piece), column = core.column(piece);
    if (row < rows_left) write_piece(c + row * ldc + column, sum, columns_left - column, aligned, epilogue);
  };
  if constexpr (kCluster) {
    // The sums overwrite what was read, and where the last copies, of zeros beyond the last tile, go.
    cp_async_wait<0>();
    __syncthreads();
    add_in_cluster(core, stages, int(slices), T(g.k >= 0), write);
  } else {
#pragma unroll
    for (int piece = 0; piece < Core::kPieces; ++piece) {
      T sum[kWidth];
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum[e] = core.element(piece, e);
      write(piece, sum);
    }
  }
}

/// What a plan needs to know of a tile's kernels: [cluster][trans_a][trans_b], for operands that may be
/// copied 16 bytes at a time and for any. Null where the tile is not for those operands.
template <class T>
struct MultistageKernels {
  using Kernel = void (*)(SlicedArguments<T>);
  int m, n, depth, threads;
  int shared_bytes[2];  ///< [cluster]
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
      kernels.shared_bytes[kCluster] =
          std::max(kernels.shared_bytes[kCluster], kCluster ? Memory::kClusterBytes : Memory::kBytes);
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
