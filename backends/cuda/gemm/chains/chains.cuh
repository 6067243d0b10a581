// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of chains. A warp has 32 lines of the large operand, one a lane, and a slice of k: each lane's sums are
/// chains of multiply-adds. What it reads comes through a ring of its own in shared memory, so that a few warps keep
/// memory busy, and no warp waits for another one until the slices are added.
#pragma once

#include "../../cp_async.cuh"
#include "../../early_start.cuh"
#include "../gemm.cuh"
#include "../warpgroup/warpgroup_layout.cuh"
#include "chains.hpp"

#include <cooperative_groups.h>

#include <cstdint>

namespace tessera::cuda {

template <class T>
struct ChainsArguments {
  GemmArguments<T> g;
  bool turned;                   ///< A is the large operand, else B
  std::int64_t few_line, few_k;  ///< steps in the small one
  int slices;                    ///< as many as a cluster has warps
  std::int64_t k_per_slice;
};

/// What is fixed at compile time. kFew lines of the small operand; kKMajor, kWide: the large one is contiguous along k,
/// and copied 16 bytes at a time.
template <class T, int kFewLines, bool kIsKMajor, int kStepDepth, bool kIsWide>
struct ChainsShape {
  using Element = T;
  static constexpr int kFew = kFewLines, kDepth = kStepDepth, kLines = int(kChainsLines), kVector = kVectorWidth<T>;
  static constexpr bool kKMajor = kIsKMajor, kWide = kIsWide;
  static constexpr int kPitch = kKMajor ? kDepth + kVector : kLines;  ///< of the large operand in a stage
  static constexpr int kMany = kFew * kDepth;                         ///< where it begins there
  static constexpr int kStage = chains_stage_elements<T>(kFew, kDepth, kKMajor);
  /// Copies of the large operand: of so many elements, so many side by side and so many rows of them at once.
  static constexpr int kWidth = kWide ? kVector : 1, kAcross = (kKMajor ? kDepth : kLines) / kWidth;
  static constexpr int kAtOnce = 32 / kAcross, kCopies = (kKMajor ? kLines : kDepth) / kAtOnce;
  static_assert(kAcross <= 32 && kDepth % kVector == 0);
};

/// The copies of a warp's share of both operands, a step of k at a time.
template <class Shape>
struct ChainsLoader {
  using T = typename Shape::Element;
  static constexpr int kCounted = Shape::kKMajor ? Shape::kCopies : 1;
  const T* many[kCounted];  ///< where the lane's copies of the next step begin, or the first of them
  const T* few[Shape::kFew];
  std::int64_t apart, few_k;  ///< elements from one copy to the next, where they are not counted; of the small operand
  int row, along;             ///< of the lane's first copy in the stage
  int bytes;                  ///< of a copy, as far as lines exist
  int left;                   ///< of k, that is still to be copied

  __device__ ChainsLoader(const ChainsArguments<T>& x, std::int64_t item, std::int64_t first_line, std::int64_t first_k,
                          int ks)
      : few_k(x.few_k), left(ks) {
    const GemmArguments<T>& g = x.g;
    const int lane = int(threadIdx.x) % 32;
    const std::int64_t extent = (x.turned ? g.m : g.n) - first_line, ld = x.turned ? g.lda : g.ldb;
    const int lines = int(extent < Shape::kLines ? extent : Shape::kLines), count = int(x.turned ? g.n : g.m);
    const T* const from = x.turned ? g.a + item * g.stride_a : g.b + item * g.stride_b;
    row = lane / Shape::kAcross, along = lane % Shape::kAcross * Shape::kWidth, apart = Shape::kAtOnce * ld;
    bytes = Shape::kWidth * int(sizeof(T));
    if constexpr (Shape::kKMajor) {  // lines that do not exist are copies of the last one, which nobody looks at
#pragma unroll
      for (int c = 0; c < Shape::kCopies; ++c)
        many[c] = from + (first_line + min(c * Shape::kAtOnce + row, lines - 1)) * ld + first_k + along;
    } else {
      bytes = max(0, min(bytes, (lines - along) * int(sizeof(T))));
      many[0] = from + (first_k + row) * ld + first_line + along;
    }
    const T* const small = x.turned ? g.b + item * g.stride_b : g.a + item * g.stride_a;
#pragma unroll
    for (int i = 0; i < Shape::kFew; ++i) few[i] = small + min(i, count - 1) * x.few_line + (first_k + lane) * few_k;
  }

  /// Starts the copies of the next step into a stage, with zeros for what is beyond the slice.
  __device__ __forceinline__ void copy(std::uint32_t stage) {
    constexpr int kSize = int(sizeof(T)), kBytes = Shape::kWidth * kSize;
    const int lane = int(threadIdx.x) % 32;
    if (left > 0) {
#pragma unroll
      for (int k = 0; k < Shape::kDepth; k += 32)
        if (Shape::kDepth >= 32 || lane < Shape::kDepth)
#pragma unroll
          for (int i = 0; i < Shape::kFew; ++i)
            cp_async<kSize>(stage + (i * Shape::kDepth + k + lane) * kSize, few[i] + k * few_k, k + lane < left);
      const T* next = many[0];
#pragma unroll
      for (int c = 0; c < Shape::kCopies; ++c) {
        const int at = c * Shape::kAtOnce + row;
        const std::uint32_t to = stage + (Shape::kMany + at * Shape::kPitch + along) * kSize;
        const int exist = Shape::kKMajor ? max(0, min(Shape::kWidth, left - along)) * kSize : at < left ? bytes : 0;
        const T* const from = Shape::kKMajor ? many[c % kCounted] : next;
        if constexpr (Shape::kWide)
          cp_async_part(to, from, exist);
        else
          cp_async<kBytes>(to, from, exist > 0);
        if constexpr (Shape::kKMajor) many[c] += Shape::kDepth;
        next += apart;
      }
      if constexpr (!Shape::kKMajor) many[0] = next;
#pragma unroll
      for (int i = 0; i < Shape::kFew; ++i) few[i] += Shape::kDepth * few_k;
      left -= Shape::kDepth;
    }
    cp_async_commit();
  }
};

/// Adds a stage to the lane's sums, in the order of k.
template <class Shape, class T>
__device__ __forceinline__ void add_stage(const T* stage, T (&sums)[Shape::kFew]) {
  const int lane = int(threadIdx.x) % 32;
  const T* const many = stage + Shape::kMany;
#pragma unroll
  for (int k = 0; k < Shape::kDepth; k += Shape::kVector) {
    Vector<T, Shape::kVector> line;
    if constexpr (Shape::kKMajor) {
      line = *reinterpret_cast<const Vector<T, Shape::kVector>*>(many + lane * Shape::kPitch + k);
    } else {
#pragma unroll
      for (int e = 0; e < Shape::kVector; ++e) line.value[e] = many[(k + e) * Shape::kPitch + lane];
    }
#pragma unroll
    for (int i = 0; i < Shape::kFew; ++i) {
      const auto factor = *reinterpret_cast<const Vector<T, Shape::kVector>*>(stage + i * Shape::kDepth + k);
#pragma unroll
      for (int e = 0; e < Shape::kVector; ++e) sums[i] = fma(factor.value[e], line.value[e], sums[i]);
    }
  }
}

/// Adds the slices of the cluster's lines in their order, and writes D. `sums`: those of the block's warps.
template <class Shape, class T>
__device__ __forceinline__ void add_chains(const ChainsArguments<T>& x, const T* sums, std::int64_t item,
                                           std::int64_t first_line, unsigned rank, unsigned ranks) {
  constexpr int kSums = Shape::kFew * Shape::kLines, kMost = int(kMostInCluster);
  const GemmArguments<T>& g = x.g;
  const int warps = int(blockDim.x) / 32;
  for (int e = int(rank * blockDim.x + threadIdx.x); e < kSums; e += int(ranks * blockDim.x)) {
    T part[kMost];
#pragma unroll
    for (int s = 0; s < kMost; ++s) {
      const T* of = sums + s % warps * kSums + e;
#if __CUDA_ARCH__ >= 900
      if (ranks > 1 && s < x.slices) of = cooperative_groups::this_cluster().map_shared_rank(of, unsigned(s / warps));
#endif
      part[s] = s < x.slices ? *of : T(0);
    }
    T sum = T(0);
#pragma unroll
    for (int s = 0; s < kMost; ++s)
      if (s < x.slices) sum += part[s];
    const std::int64_t few = e / Shape::kLines, many = first_line + e % Shape::kLines;
    if (few >= (x.turned ? g.n : g.m) || many >= (x.turned ? g.m : g.n)) continue;
    write_element<false>(g, item, x.turned ? many : few, x.turned ? few : many, sum);
  }
}

template <class Shape>
__global__ void __launch_bounds__(32 * kMostInCluster)
    gemm_chains_kernel(const __grid_constant__ ChainsArguments<typename Shape::Element> x) {
#if __CUDA_ARCH__ >= 900
  using T = typename Shape::Element;
  extern __shared__ __align__(128) unsigned char shared[];
  const GemmArguments<T>& g = x.g;
  const int warp = int(threadIdx.x) / 32, warps = int(blockDim.x) / 32, lane = int(threadIdx.x) % 32;
  const unsigned rank = cluster_rank(), ranks = unsigned(x.slices / warps);
  const std::int64_t segments = ceil_div(x.turned ? g.m : g.n, Shape::kLines), unit = blockIdx.x / ranks;
  const std::int64_t item = unit / segments, first_line = unit % segments * Shape::kLines;
  const std::int64_t first_k = (std::int64_t(rank) * warps + warp) * x.k_per_slice, rest = g.k - first_k;
  const int ks = int(rest < x.k_per_slice ? (rest > 0 ? rest : 0) : x.k_per_slice);
  start_successor();
  wait_for_predecessor();  // which may have made the operands, or read and written D

  T* const ring = reinterpret_cast<T*>(shared) + warp * kChainsStages * Shape::kStage;
  ChainsLoader<Shape> loader(x, item, first_line, first_k, ks);
  const auto stage = [&](int number) { return ring + number * Shape::kStage; };
#pragma unroll
  for (int s = 0; s < kChainsStages - 1; ++s) loader.copy(shared_address(stage(s)));
  T sums[Shape::kFew]{};
  int number = 0;
  for (int step = 0; step < (ks + Shape::kDepth - 1) / Shape::kDepth; ++step) {
    cp_async_wait<kChainsStages - 2>();
    __syncwarp();  // all lanes' copies are there, and nobody reads the stage before
    loader.copy(shared_address(stage(number == 0 ? kChainsStages - 1 : number - 1)));
    add_stage<Shape>(stage(number), sums);
    number = number + 1 == kChainsStages ? 0 : number + 1;
  }
  cp_async_wait<0>();
  __syncthreads();  // the rings are free
  T* const all = reinterpret_cast<T*>(shared);
#pragma unroll
  for (int i = 0; i < Shape::kFew; ++i) all[(warp * Shape::kFew + i) * Shape::kLines + lane] = sums[i];
  if (ranks > 1)
    cluster_sync();
  else
    __syncthreads();
  add_chains<Shape>(x, all, item, first_line, rank, ranks);
  if (ranks > 1) cluster_sync();  // nobody leaves while others read its sums
#endif
}

}  // namespace tessera::cuda
