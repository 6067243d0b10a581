// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product of tiles in a pipeline: while a block multiplies one tile of op(A) and op(B), the copies
/// of the next kStages - 1 are under way.
#pragma once

#include "../rasterization.cuh"
#include "../slices.cuh"
#include "../tile_writer.cuh"
#include "../triangle_writer.cuh"
#include "multistage_kernels.hpp"
#include "tile_loader.cuh"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tessera::cuda {

/// What a block computes: a slice of k of a tile of C.
template <class Core>
struct BlockWork {
  GemmTile tile;
  unsigned slices, slice;
  int rows, columns;         ///< of the tile, that exist
  std::int64_t first_k, ks;  ///< the slice, which may be empty

  /// kTriangles: it may be one of a triangle.
  template <bool kTriangles>
  __device__ BlockWork(const SlicedArguments<typename Core::T>& x, std::bool_constant<kTriangles>) {
    slices = unsigned(x.slices), slice = blockIdx.x % slices;
    const unsigned number = blockIdx.x / slices;
    if (kTriangles && x.triangle.down > 0) {
      const unsigned batch = number / x.triangle.tiles;
      const TriangleTiles::Place place = x.triangle.at(number - batch * x.triangle.tiles);
      tile = {std::int64_t(place.row) * Core::kM, std::int64_t(place.column) * Core::kN, batch};
    } else {
      tile = rasterized_tile(x.g, Core::kM, Core::kN, number);
    }
    set_bounds(x);
  }
  /// Of that tile, which is the block's.
  __device__ BlockWork(const SlicedArguments<typename Core::T>& x, const GemmTile& known) : tile(known) {
    slices = unsigned(x.slices), slice = blockIdx.x % slices;
    set_bounds(x);
  }

 private:
  __device__ __forceinline__ void set_bounds(const SlicedArguments<typename Core::T>& x) {
    rows = int(x.g.m - tile.row < Core::kM ? x.g.m - tile.row : Core::kM);
    columns = int(x.g.n - tile.column < Core::kN ? x.g.n - tile.column : Core::kN);
    first_k = slice * x.k_per_slice;
    ks = x.g.k - first_k < x.k_per_slice ? x.g.k - first_k : x.k_per_slice;
  }
};

/// Loads tiles of both operands, along k tile after tile, into stages of shared memory.
template <class Core, int kStages, int kVectorA, int kVectorB>
struct StageLoader {
  using T = typename Core::T;
  using LoaderA = TileLoader<T, typename Core::LayoutA, Core::kKMajorA, kVectorA, Core::kThreads>;
  using LoaderB = TileLoader<T, typename Core::LayoutB, Core::kKMajorB, kVectorB, Core::kThreads>;
  static constexpr int kStageElements = Core::LayoutA::kElements + Core::LayoutB::kElements;

  LoaderA a;
  LoaderB b;
  T* stages;
  int to_load;  ///< tiles
  int in_last;  ///< of k, that exist in the last one

  /// Part `part` of `parts` of the copies of the next tile. Beyond the last tile they are zeros: without a branch the
  /// compiler can move them between the products.
  __device__ __forceinline__ void copy(int stage, int part, int parts) {
    constexpr int kCopies = LoaderA::kCopies + LoaderB::kCopies;
    T* const tile_a = stages + stage * kStageElements;
    const int left = to_load > 1 ? Core::kTileK : to_load == 1 ? in_last : 0;
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy)
      if (copy * parts / kCopies == part) {
        if (copy < LoaderA::kCopies)
          a.copy(tile_a, left, copy);
        else
          b.copy(tile_a + Core::LayoutA::kElements, left, copy - LoaderA::kCopies);
      }
    if (part == parts - 1) {
      --to_load;
      cp_async_commit();
    }
  }

  /// Waits until the oldest tile under way has arrived, for all threads.
  __device__ __forceinline__ void wait() const {
    cp_async_wait<kStages - 2>();
    __syncthreads();
  }
};

/// The loader of a block's operands.
template <int kStages, int kVectorA, int kVectorB, class Core>
__device__ __forceinline__ auto loader_of(const GemmArguments<typename Core::T>& g, const BlockWork<Core>& work,
                                          typename Core::T* stages) {
  using Loader = StageLoader<Core, kStages, kVectorA, kVectorB>;
  const GemmTile& tile = work.tile;
  const std::int64_t first = work.first_k;
  typename Loader::LoaderA a(
      g.a + tile.batch * g.stride_a + (Core::kKMajorA ? tile.row * g.lda + first : first * g.lda + tile.row), g.lda,
      work.rows);
  typename Loader::LoaderB b(
      g.b + tile.batch * g.stride_b + (Core::kKMajorB ? tile.column * g.ldb + first : first * g.ldb + tile.column),
      g.ldb, work.columns);
  const int tiles = work.ks > 0 ? int((work.ks + Core::kTileK - 1) / Core::kTileK) : 0;
  return Loader{a, b, stages, tiles, int(work.ks - std::int64_t(tiles - 1) * Core::kTileK)};
}

/// The sums of a block's slices before the one that it multiplies, where it has all of them: they wait in shared
/// memory, in the order of the threads' registers.
template <class Core>
class FoldedSums {
  using Sum = typename Core::Sum;
  using Segment = Vector<Sum, Core::kSegmentWidth>;

 public:
  __device__ explicit FoldedSums(void* shared) : sums_(static_cast<Segment*>(shared) + threadIdx.x) {
#pragma unroll
    for (int segment = 0; segment < Core::kSegments; ++segment) sums_[segment * Core::kThreads] = Segment{};
  }

  /// A slice's sums join those before, and the next one's begin with 0.
  __device__ __forceinline__ void join(Core& core) const {
    for_each([&](Segment& before, int segment) {
      before = added(before, core, segment);
#pragma unroll
      for (int e = 0; e < Core::kSegmentWidth; ++e) core.set(segment, e, Sum(0));
    });
  }
  /// The last slice's sums become those of all.
  __device__ __forceinline__ void finish(Core& core) const {
    for_each([&](const Segment& before, int segment) {
      const Segment sums = added(before, core, segment);
#pragma unroll
      for (int e = 0; e < Core::kSegmentWidth; ++e) core.set(segment, e, sums.value[e]);
    });
  }

 private:
  static __device__ __forceinline__ Segment added(Segment before, const Core& core, int segment) {
#pragma unroll
    for (int e = 0; e < Core::kSegmentWidth; ++e) before.value[e] += core.element(segment, e);
    return before;
  }
  template <class Body>
  __device__ __forceinline__ void for_each(const Body& body) const {
#pragma unroll
    for (int segment = 0; segment < Core::kSegments; ++segment) {
      body(sums_[segment * Core::kThreads], segment);
      if (segment % 4 == 3)
        asm volatile("" ::: "memory");  // else all are read at once, into registers that are not there
    }
  }

  Segment* sums_;
};

/// The main loop: reads the operands of the next step while this one multiplies. loop(multiply_tile) calls the latter
/// for each tile.
template <int kStages, bool kCluster, class Core, class Loader, class Loop>
__device__ __forceinline__ void multiply_tiles(Core& core, Loader& loader, const typename Core::T* stages,
                                               const Loop& loop) {
  using T = typename Core::T;
  constexpr int kSteps = Core::kSteps, kInA = Core::LayoutA::kElements;
  constexpr int kParts = Core::template kCopyParts<kCluster>, kEvery = (kSteps - 1) / kParts;
  typename Core::Fragment fragments[2];
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) loader.copy(stage, 0, 1);
  loader.wait();
  core.read(fragments[0], stages, stages + kInA, 0);

  int stage = 0;
  loop([&] {
    const T* tile = stages + stage * Loader::kStageElements;
    const int next = stage + 1 == kStages ? 0 : stage + 1;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step == kSteps - 1) {  // the next step's operands lie in the next tile
        loader.wait();
        tile = stages + next * Loader::kStageElements;
      }
      core.read(fragments[(step + 1) % 2], tile, tile + kInA, (step + 1) % kSteps);
      if (step % kEvery == 0 && step / kEvery < kParts)
        loader.copy(stage == 0 ? kStages - 1 : stage - 1, step / kEvery, kParts);  // the one that was read last
      core.multiply(fragments[step % 2]);
    }
    stage = next;
  });
}

/// All of a block's products. kFolds: of slices of k, so many tiles each, with room for sums behind the stages.
template <int kStages, bool kCluster, bool kFolds, class Core, class Loader>
__device__ __forceinline__ void multiply_all(Core& core, Loader& loader, typename Core::T* stages,
                                             int tiles_per_slice) {
  int left = loader.to_load;
  if constexpr (kFolds) {
    const FoldedSums<Core> folded(stages + kStages * Loader::kStageElements);
    // A loop in a loop: with a branch the compiler would have the sums join under predicates, in each tile.
    multiply_tiles<kStages, kCluster>(core, loader, stages, [&](const auto& multiply_tile) {
      while (left > 0) {
        int of_slice = min(left, tiles_per_slice);
        for (left -= of_slice; of_slice > 0; --of_slice) multiply_tile();
        if (left > 0) folded.join(core);
      }
    });
    folded.finish(core);
  } else {
    multiply_tiles<kStages, kCluster>(core, loader, stages, [&](const auto& multiply_tile) {
      for (; left > 0; --left) multiply_tile();
    });
  }
}

/// Blocks that add the sums of a tile through shared memory.
template <bool kCluster, class Core>
__device__ __forceinline__ int sharing_blocks(const BlockWork<Core>& work) {
  if constexpr (kCluster && !Core::kOneWriter) return int(work.slices);
#if __CUDA_ARCH__ >= 900
  if constexpr (kCluster) return int(cooperative_groups::this_cluster().num_blocks());
#endif
  return 1;
}

/// Whether the block is the first of those whose sums become a tile of D in this kernel.
template <bool kCluster, class Core>
__device__ __forceinline__ bool writes_d(const BlockWork<Core>& work) {
  return work.slice == 0 && int(work.slices) <= sharing_blocks<kCluster>(work);
}

/// Where the block's sums go: to D, or for a second kernel to the sums of slices.
template <bool kCluster, class Core>
__device__ __forceinline__ PlainTarget<typename Core::T> plain_target_of(const SlicedArguments<typename Core::T>& x,
                                                                         const BlockWork<Core>& work) {
  using T = typename Core::T;
  const GemmArguments<T>& g = x.g;
  const GemmTile& tile = work.tile;
  const bool to_partial = !kCluster && work.slices > 1;
  const std::int64_t ld = to_partial ? x.partial_ld : g.ldd;
  T* const d = (to_partial ? x.partial + (work.slice * g.batch + tile.batch) * g.m * ld
                           : g.d.elements() + tile.batch * g.stride_d) +
               tile.row * ld + tile.column;
  return {d, ld, work.rows, work.columns, to_partial ? Epilogue<T>() : Epilogue<T>(g)};
}

/// kVectorA, kVectorB: elements a copy, what the operands' alignment allows.
/// kCluster: the slices of a tile may be a cluster. kPlain: for plain() arguments and the sums of slices alone. The
/// code for the others costs the loops of some cores registers, so that there are kernels without. kFolds: a block
/// computes the slices of ordered sums one after another.
template <class Core, int kStages, int kMinBlocks, int kVectorA, int kVectorB, bool kCluster, bool kPlain, bool kFolds>
__global__ void __launch_bounds__(Core::kThreads, kMinBlocks)
    gemm_multistage_kernel(const __grid_constant__ SlicedArguments<typename Core::T> arguments) {
  using T = typename Core::T;
  using Sum = typename Core::Sum;
  extern __shared__ __align__(128) unsigned char shared[];
  T* const stages = reinterpret_cast<T*>(shared);
  Sum* const sums = reinterpret_cast<Sum*>(shared);

  if constexpr (kPlain) {
    const BlockWork<Core> work(arguments, std::false_type{});
    if (writes_d<kCluster>(work)) prefetch_c<Core::kThreads>(arguments.g, work.tile, work.rows, work.columns);
    auto loader = loader_of<kStages, kVectorA, kVectorB>(arguments.g, work, stages);
    Core core;
    multiply_all<kStages, kCluster, kFolds>(core, loader, stages, arguments.tiles_per_slice);
    write_plain<Core, kCluster>(core, sums, int(work.slices), Sum(arguments.g.k < 0),
                                plain_target_of<kCluster>(arguments, work));
  } else {
    constexpr bool kTriangles = Core::kTriangles;
    __shared__ GemmTile tile;  // for what follows the main loop, which needs the registers
    Core core;
    {
      const BlockWork<Core> work(arguments, std::bool_constant<kTriangles>{});
      if (threadIdx.x == 0) tile = work.tile;
      if constexpr (Core::kPrefetchesC)
        if (writes_d<kCluster>(work)) prefetch_c<Core::kThreads>(arguments.g, work.tile, work.rows, work.columns);
      auto loader = loader_of<kStages, kVectorA, kVectorB>(arguments.g, work, stages);
      if constexpr (!kCluster) loader.a.keep_steps();  // 2 % of a product in f32
      multiply_all<kStages, kCluster, kFolds>(core, loader, stages, arguments.tiles_per_slice);
    }
    const BlockWork<Core> work(arguments, tile);
    const int blocks = sharing_blocks<kCluster>(work);
    const bool to_partial = (!kCluster || Core::kOneWriter) && int(work.slices) > blocks;
    const TileTarget<T> target = target_of(arguments, work.tile, work.slice, work.rows, work.columns, to_partial);
    if constexpr (kTriangles)
      if (arguments.triangle.down > 0)
        return write_triangle<Core, kCluster>(core, sums, blocks, Sum(arguments.g.k < 0), target, arguments.g, tile,
                                              arguments.triangle);
    write_result<Core, kCluster>(core, sums, blocks, Sum(arguments.g.k < 0), target, arguments.g, tile);
  }
}

/// MultistageCore<A, kTile, kKMajorA, kKMajorB>::Type: what multiplies that tile of kMultistageTiles<A>; void where the
/// tile is not for such operands.
template <class A, std::size_t kTile, bool kKMajorA, bool kKMajorB>
struct MultistageCore;

/// Bytes of shared memory of that core's kernels.
template <class Core, int kStages, bool kFolds>
constexpr int multistage_bytes() {
  if constexpr (std::is_void_v<Core>)
    return 0;
  else
    return std::max(kStages * (Core::LayoutA::kElements + Core::LayoutB::kElements) * int(sizeof(typename Core::T)) +
                        kFolds * Core::kM * Core::kN * int(sizeof(typename Core::Sum)),
                    Core::kM * (Core::kN + Core::kTilePad) * int(sizeof(typename Core::Sum)));
}

template <class A, std::size_t kTile>
MultistageKernels<A> multistage_kernels_of() {
  static constexpr MultistageTile t = kMultistageTiles<A>[kTile];
  MultistageKernels<A> kernels{};
  using Layout = MultistageLayout<A>;
  const auto add = [&]<std::size_t kCopy, bool kForPlain, bool kCluster, bool kTransA, bool kTransB>() {
    using Core = typename MultistageCore<A, kTile, !kTransA, kTransB>::Type;
    static_assert(multistage_bytes<Core, t.stages, t.folds>() <= t.shared_bytes);
    if constexpr (!std::is_void_v<Core> && !(t.folds && kCluster)) {
      static_assert(Core::kThreads == t.threads());
      constexpr int kWidth = Layout::kCopyBytes[kCopy] / int(sizeof(typename Layout::T));
      constexpr int kVectorA = std::min(kWidth, Core::kVectorA), kVectorB = std::min(kWidth, Core::kVectorB);
      // Kernels for any arguments know clusters, too. Large tiles with wide copies have some for one block a tile.
      constexpr bool kPlain = kForPlain && !Core::kOneWriter;
      constexpr bool kAlone = kCopy == 0 && !kForPlain && !kCluster && t.m * t.n >= 128 * 128 && !Core::kOneWriter;
      constexpr bool kKnowsClusters = kCluster || !(kPlain || kAlone || t.folds);
      kernels.kernels[kCopy][kForPlain][kCluster][kTransA][kTransB] =
          gemm_multistage_kernel<Core, t.stages, t.blocks_per_sm, kVectorA, kVectorB, kKnowsClusters, kPlain, t.folds>;
    }
  };
  const auto add_all = [&]<std::size_t kCopy, bool kForPlain, bool kCluster>() {
    add.template operator()<kCopy, kForPlain, kCluster, false, false>();
    add.template operator()<kCopy, kForPlain, kCluster, false, true>();
    add.template operator()<kCopy, kForPlain, kCluster, true, false>();
    add.template operator()<kCopy, kForPlain, kCluster, true, true>();
  };
  const auto add_copies = [&]<std::size_t... kCopy>(std::index_sequence<kCopy...>) {
    (add_all.template operator()<kCopy, false, false>(), ...);
    (add_all.template operator()<kCopy, false, true>(), ...);
    (add_all.template operator()<kCopy, true, false>(), ...);
    (add_all.template operator()<kCopy, true, true>(), ...);
  };
  add_copies(std::make_index_sequence<Layout::kCopyBytes.size()>{});
  return kernels;
}

}  // namespace tessera::cuda
