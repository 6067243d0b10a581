// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernel of skinny_parts. A warp reads elements straight into registers, splits them into parts there and
/// multiplies them on the tensor cores. Which of k an instruction's places along k are is free where both operands have
/// the same, and which lines its rows and columns are is free in any case: so both layouts are read 16 bytes (of 16
/// bits: 8) at a time, in whole sectors, without shared memory.
#pragma once

#include "../../early_start.cuh"
#include "../../shared_access.cuh"
#include "../../vector.cuh"
#include "../bf16_parts_f32.cuh"
#include "../gemm.cuh"
#include "../multistage/half_core.cuh"
#include "../recompute_f32.cuh"
#include "../warpgroup/warpgroup_layout.cuh"
#include "skinny_parts.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tessera::cuda {

/// Rows of op(A), or columns of op(B), are lines.
struct SkinnyPartsOperand {
  const void* data;
  std::int64_t extent, ld, stride;
  bool k_major;  ///< lines are contiguous, else their neighbours are
  bool vectors;  ///< four neighbours can be read at once, from multiples of four on
};

struct SkinnyPartsArguments {
  GemmArguments<float> g;  ///< but for A and B
  SkinnyPartsOperand few, many;
  bool turned;
  std::int64_t k_per_slice;  ///< a multiple of the step
};

/// Elements of a chunk of k, four of it a lane, of kLines lines a group of four lanes.
template <class T, int kLines, bool kKMajor>
class SkinnyPartsElements {
 public:
  /// Number i of k of line q.
  __device__ __forceinline__ float at(int q, int i) const {
    return widened(raw_[kKMajor ? 4 * q + i : kLines * i + q]);
  }

  /// The chunk at `k` by wide reads alone. Lines that do not exist may be anything.
  __device__ __forceinline__ void load(const SkinnyPartsOperand& o, const T* const (&from)[kKMajor ? kLines : 1],
                                       std::int64_t k) {
    if constexpr (kKMajor) {
#pragma unroll
      for (int q = 0; q < kLines; ++q) read<4>(from[q] + k, raw_ + 4 * q);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) read<kLines>(from[0] + (k + i) * o.ld, raw_ + kLines * i);
    }
  }
  /// Where the lane's elements of the first chunk are.
  static __device__ __forceinline__ void find(const SkinnyPartsOperand& o, const T* data, std::int64_t line,
                                              const T* (&from)[kKMajor ? kLines : 1]) {
    const int group = int(threadIdx.x) % 32 / 4, lane = int(threadIdx.x) % 4;
    if constexpr (kKMajor) {
#pragma unroll
      for (int q = 0; q < kLines; ++q) from[q] = data + min(line + 8 * q + group, o.extent - 1) * o.ld + 4 * lane;
    } else {
      from[0] = data + min(line + kLines * group, o.extent - kLines) + 4 * lane * o.ld;
    }
  }
  /// Whether chunks can be read so.
  static __device__ __forceinline__ bool is_wide(const SkinnyPartsOperand& o) {
    return o.vectors && (kKMajor || o.extent % kLines == 0);
  }

  /// The chunk at `k` element by element: what is not, or not below `last` of k, is zero.
  __device__ __forceinline__ void load_each(const SkinnyPartsOperand& o, const T* data, std::int64_t line,
                                            std::int64_t k, std::int64_t last) {
    const int group = int(threadIdx.x) % 32 / 4, lane = int(threadIdx.x) % 4;
#pragma unroll
    for (int q = 0; q < kLines; ++q)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t of = line + (kKMajor ? 8 * q + group : kLines * group + q), at = k + 4 * lane + i;
        T& element = raw_[kKMajor ? 4 * q + i : kLines * i + q];
        element = of < o.extent && at < last ? data[kKMajor ? of * o.ld + at : at * o.ld + of] : T{};
      }
  }

 private:
  template <int kCount>
  static __device__ __forceinline__ void read(const T* from, T* to) {
    const auto vector = *reinterpret_cast<const Vector<T, kCount>*>(from);
    memcpy(to, &vector, sizeof vector);
  }

  T raw_[4 * kLines];
};

/// The place among a warp's lines of line q of a group.
template <bool kKMajor, int kLines>
__device__ __forceinline__ int skinny_parts_line(int q, int group) {
  return kKMajor ? 8 * q + group : kLines * group + q;
}

/// d = a b, for a warp: sums that begin here.
__device__ __forceinline__ void mma_first(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %10, %10, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

__device__ __forceinline__ unsigned cluster_size() {
  unsigned size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

/// Another block's value in shared memory.
__device__ __forceinline__ float load_of_rank(std::uint32_t address, unsigned rank) {
  float value;
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2; ld.shared::cluster.f32 %0, [there]; }"
               : "=f"(value)
               : "r"(address), "r"(rank));
  return value;
}

/// Few of type A, many of type B.
template <class A, class B, int kNumber, bool kManyKMajor>
struct SkinnyPartsShape {
  using Products = Bf16Products<A, B>;
  using OfA = typename Products::OfA;
  using OfB = typename Products::OfB;
  static constexpr SkinnyPartsTile kTile = kSkinnyPartsTiles[kNumber];
  static constexpr int kTiles = kTile.few / kTile.warps / 16;  ///< of an instruction, of the few that a warp has
  static constexpr int kFewLines = 2 * kTiles, kManyLines = kTile.many / 8;
  static constexpr int kFew = 8 * kFewLines, kMany = kTile.many;
  static constexpr int kSlices = kTile.slices(), kPitch = kMany + 1;
  static constexpr int kChunks = kTile.chunks;
  using Sums = float[kTiles][kManyLines][4];

  /// The products of op(A) and op(B): where D is turned the few are of op(B).
  template <bool kTurned>
  using OrderedProducts = std::conditional_t<kTurned, Bf16Products<B, A>, Bf16Products<A, B>>;
  /// The part of the few of such a product, and that of the many.
  template <bool kTurned>
  static __device__ constexpr PartPair parts_of(int product) {
    const PartPair pair = OrderedProducts<kTurned>::product(product);
    return kTurned ? PartPair{pair.b, pair.a} : pair;
  }
};

/// A step's parts, as the instructions take them, a chunk each.
template <class Shape>
class SkinnyPartsStep {
 public:
  template <class Few, class Many>
  __device__ __forceinline__ void split(int chunk, const Few& few, const Many& many) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
      for (int q = 0; q < Shape::kFewLines; ++q) {
        std::uint32_t words[Shape::OfA::kParts];
        Shape::OfA::split(few.at(q, 2 * pair), few.at(q, 2 * pair + 1), words);
#pragma unroll
        for (int part = 0; part < Shape::OfA::kParts; ++part) a_[chunk][part][q / 2][q % 2 + 2 * pair] = words[part];
      }
#pragma unroll
      for (int q = 0; q < Shape::kManyLines; ++q) {
        std::uint32_t words[Shape::OfB::kParts];
        Shape::OfB::split(many.at(q, 2 * pair), many.at(q, 2 * pair + 1), words);
#pragma unroll
        for (int part = 0; part < Shape::OfB::kParts; ++part) b_[chunk][part][q][pair] = words[part];
      }
    }
  }

  /// Adds the products to `sums`; of f32 by f32 in the order of warpgroup_f32: chunk by chunk of each product of parts
  /// of op(A) and op(B).
  __device__ __forceinline__ void multiply(typename Shape::Sums& sums, bool turned) const {
    if (Shape::kChunks > 1 && turned) return multiply<true>(sums);
    multiply<false>(sums);
  }

 private:
  template <bool kTurned>
  __device__ __forceinline__ void multiply(typename Shape::Sums& sums) const {
    using Products = typename Shape::template OrderedProducts<kTurned>;
#pragma unroll
    for (int i = 0; i < Shape::kTiles; ++i)
#pragma unroll
      for (int j = 0; j < Shape::kManyLines; ++j) {
        float step[4];
#pragma unroll
        for (int p = 0; p < Products::kProducts; ++p)
#pragma unroll
          for (int chunk = 0; chunk < Shape::kChunks; ++chunk) {
            const PartPair parts = Shape::template parts_of<kTurned>(p);
            const auto& a = a_[chunk][parts.a][i];
            const auto& b = b_[chunk][parts.b][j];
            if (p == 0 && chunk == 0)
              mma_first(step, a, b);
            else
              mma(bfloat16{}, step, a, b);
          }
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] += step[e];
      }
  }

  std::uint32_t a_[Shape::kChunks][Shape::OfA::kParts][Shape::kTiles][4];
  std::uint32_t b_[Shape::kChunks][Shape::OfB::kParts][Shape::kManyLines][2];
};

/// A warp's sums over its share of k. Chunks are under way: another is read when one's elements have become parts.
template <class Shape, class A, class B, bool kFewKMajor, bool kManyKMajor>
__device__ __forceinline__ void multiply_share(typename Shape::Sums& sums, const SkinnyPartsArguments& x,
                                               std::int64_t item, std::int64_t few_line, std::int64_t many_line,
                                               std::int64_t first, std::int64_t last) {
  constexpr int kChunk = SkinnyPartsTile::kChunk, kChunks = Shape::kChunks, kStep = kChunks * kChunk;
  constexpr int kAhead = Shape::kTile.ahead;
  static_assert(kAhead % kChunks == 0);
  using Few = SkinnyPartsElements<A, Shape::kFewLines, kFewKMajor>;
  using Many = SkinnyPartsElements<B, Shape::kManyLines, kManyKMajor>;
  const A* const few_data = static_cast<const A*>(x.few.data) + item * x.few.stride;
  const B* const many_data = static_cast<const B*>(x.many.data) + item * x.many.stride;
  std::int64_t k = first;
  if (Few::is_wide(x.few) && Many::is_wide(x.many) && last > first) {
    const A* few_from[kFewKMajor ? Shape::kFewLines : 1];
    const B* many_from[kManyKMajor ? Shape::kManyLines : 1];
    Few::find(x.few, few_data, few_line, few_from), Many::find(x.many, many_data, many_line, many_from);
    const std::int64_t whole = first + (last - first) / kStep * kStep;
    Few few[kAhead];
    Many many[kAhead];
#pragma unroll
    for (int place = 0; place < kAhead && first < whole; ++place) {
      const std::int64_t at = min(first + place * kChunk, whole - kChunk);
      few[place].load(x.few, few_from, at), many[place].load(x.many, many_from, at);
    }
#pragma unroll 1
    for (; k < whole; k += kAhead * kChunk)
#pragma unroll
      for (int first_place = 0; first_place < kAhead; first_place += kChunks) {
        if (k + first_place * kChunk >= whole) break;
        SkinnyPartsStep<Shape> step;
#pragma unroll
        for (int chunk = 0; chunk < kChunks; ++chunk) {
          const int place = first_place + chunk;
          step.split(chunk, few[place], many[place]);
          const std::int64_t next = min(k + (place + kAhead) * kChunk, whole - kChunk);
          few[place].load(x.few, few_from, next), many[place].load(x.many, many_from, next);
        }
        step.multiply(sums, x.turned);
      }
    k = whole;
  }
#pragma unroll 1
  for (; k < last; k += kStep) {
    SkinnyPartsStep<Shape> step;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      Few few;
      Many many;
      few.load_each(x.few, few_data, few_line, k + chunk * kChunk, last);
      many.load_each(x.many, many_data, many_line, k + chunk * kChunk, last);
      step.split(chunk, few, many);
    }
    step.multiply(sums, x.turned);
  }
}

/// op(A) op(B) of one element in f32, for sums that are no finite numbers: parts of an infinity, or of numbers whose
/// sums overflow, give NaN where f32 does not.
template <class A, class B>
__device__ __noinline__ float skinny_parts_again(const SkinnyPartsArguments& x, std::int64_t item, std::int64_t few,
                                                 std::int64_t many) {
  const auto line = [item](const auto* data, const SkinnyPartsOperand& o, std::int64_t number) {
    return data + item * o.stride + (o.k_major ? number * o.ld : number);
  };
  return sum_in_f32(line(static_cast<const A*>(x.few.data), x.few, few), x.few.k_major ? 1 : x.few.ld,
                    line(static_cast<const B*>(x.many.data), x.many, many), x.many.k_major ? 1 : x.many.ld, 0, x.g.k);
}

template <class A, class B, int kNumber, bool kManyKMajor>
__global__ void __launch_bounds__(SkinnyPartsTile::kThreads, kSkinnyPartsTiles[kNumber].blocks)
    gemm_skinny_parts_kernel(const __grid_constant__ SkinnyPartsArguments x) {
#if __CUDA_ARCH__ >= 900
  using Shape = SkinnyPartsShape<A, B, kNumber, kManyKMajor>;
  constexpr int kWarps = Shape::kTile.warps, kSlices = Shape::kSlices, kRows = Shape::kTile.few;
  __shared__ float shares[kSlices][kRows][Shape::kPitch];
  const unsigned rank = cluster_rank(), ranks = cluster_size();
  const std::int64_t unit = blockIdx.x / ranks;
  const std::int64_t across = ceil_div(x.many.extent, Shape::kMany), down = ceil_div(x.few.extent, kRows);
  const std::int64_t item = unit / across / down, first_few = unit / across % down * kRows;
  const std::int64_t first_many = unit % across * Shape::kMany;
  const int warp = int(threadIdx.x) / 32, slice = warp / kWarps, row = warp % kWarps * Shape::kFew;
  const std::int64_t first = (std::int64_t(rank) * kSlices + slice) * x.k_per_slice;
  const std::int64_t last = min(first + x.k_per_slice, x.g.k);
  start_successor();
  wait_for_predecessor();  // which may have made the operands, or read and written D
  typename Shape::Sums sums{};
  const auto multiply = [&](auto few_k_major) {
    multiply_share<Shape, A, B, decltype(few_k_major)::value, kManyKMajor>(sums, x, item, first_few + row, first_many,
                                                                           first, last);
    const int group = int(threadIdx.x) % 32 / 4, lane = int(threadIdx.x) % 4;
#pragma unroll
    for (int i = 0; i < Shape::kTiles; ++i)
#pragma unroll
      for (int j = 0; j < Shape::kManyLines; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int few = skinny_parts_line<decltype(few_k_major)::value, Shape::kFewLines>(2 * i + e / 2, group);
          const int many = skinny_parts_line<kManyKMajor, Shape::kManyLines>(j, 2 * lane + e % 2);
          shares[slice][row + few][many] = sums[i][j][e];
        }
  };
  x.few.k_major ? multiply(std::true_type{}) : multiply(std::false_type{});
  const auto share_of = [&](int e, int s) { return &shares[s][e / Shape::kMany][e % Shape::kMany]; };
  constexpr int kElements = kRows * Shape::kMany, kShares = Shape::kTile.chunks == 1 ? 1 : kSlices;
  if constexpr (kShares < kSlices) {  // in any order: of a block first, so that others read one sum of it
    __syncthreads();
    for (int e = int(threadIdx.x); e < kElements; e += SkinnyPartsTile::kThreads)
      for (int s = 1; s < kSlices; ++s) *share_of(e, 0) += *share_of(e, s);
  }
  if (ranks > 1)
    cluster_sync();
  else
    __syncthreads();
  for (int e = int(rank) * SkinnyPartsTile::kThreads + int(threadIdx.x); e < kElements;
       e += int(ranks) * SkinnyPartsTile::kThreads) {
    float sum = 0;
    if (ranks > 1) {
#pragma unroll 1
      for (unsigned of = 0; of < ranks; ++of)
#pragma unroll
        for (int s = 0; s < kShares; ++s) sum += load_of_rank(shared_address(share_of(e, s)), of);
    } else {
#pragma unroll
      for (int s = 0; s < kShares; ++s) sum += *share_of(e, s);
    }
    const std::int64_t few = first_few + e / Shape::kMany, many = first_many + e % Shape::kMany;
    if (few >= x.few.extent || many >= x.many.extent) continue;
    if (x.g.k > 0 && !(fabsf(sum) < INFINITY)) sum = skinny_parts_again<A, B>(x, item, few, many);
    write_element<false>(x.g, item, x.turned ? many : few, x.turned ? few : many, sum);
  }
  if (ranks > 1) cluster_sync();  // nobody leaves while others read its sums
#endif
}

using SkinnyPartsKernel = void (*)(SkinnyPartsArguments);

/// That of a tile of the list, for few of type A and many of type B.
template <class A, class B>
SkinnyPartsKernel skinny_parts_kernel_of(int number, bool many_k_major) {
  SkinnyPartsKernel kernel = nullptr;
  [&]<int... kNumber>(std::integer_sequence<int, kNumber...>) {
    const auto add = [&]<int kOne>() {
      constexpr bool kExists = kSkinnyPartsTiles[kOne].is_for(!std::is_same_v<A, B>);
      if constexpr (kExists)
        if (kOne == number)
          kernel =
              many_k_major ? gemm_skinny_parts_kernel<A, B, kOne, true> : gemm_skinny_parts_kernel<A, B, kOne, false>;
    };
    (add.template operator()<kNumber>(), ...);
  }
  (std::make_integer_sequence<int, int(kSkinnyPartsTiles.size())>{});
  return kernel;
}

/// The same for f32 and the type T, of which the few are or the many.
template <class T>
SkinnyPartsKernel skinny_parts_kernel(bool few, int number, bool many_k_major) {
  return few ? skinny_parts_kernel_of<T, float>(number, many_k_major)
             : skinny_parts_kernel_of<float, T>(number, many_k_major);
}
extern template SkinnyPartsKernel skinny_parts_kernel<bfloat16>(bool, int, bool);
extern template SkinnyPartsKernel skinny_parts_kernel<float16>(bool, int, bool);

}  // namespace tessera::cuda
