// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of skinny products.
///
/// Seen from the large operand, whose extent (n or m) is `length`, the other one has `count` <= 16 rows
/// of k, which come through shared memory a chunk of k at a time. Where the large operand's extent is
/// contiguous (extent-major), a thread keeps `count` sums for each of its neighbouring elements, and the warps
/// of a block share k. Where k is contiguous (K-major), a warp keeps the sums of a few rows, spread over its lanes.
#pragma once

#include "skinny.hpp"
#include "slices.cuh"

#include <cstdint>

namespace tessera::cuda {

template <class T>
struct SkinnyArguments {
  SlicedArguments<T> s;
  bool few_rows;                    ///< of C: B is the large operand, else A
  std::int64_t length;              ///< of the large operand's extent
  std::int64_t small_row, small_k;  ///< steps in the small operand
  int count;
};

/// What a block computes: a part of the length in a slice of k.
template <class T>
struct SkinnyWork {
  std::int64_t first;       ///< along the length
  std::int64_t begin, end;  ///< along k
  std::int64_t batch;
  unsigned slice;

  __device__ SkinnyWork(const SkinnyArguments<T>& x, int block_length) {
    slice = blockIdx.x % unsigned(x.s.slices);
    const std::int64_t blocks = ceil_div(x.length, block_length);
    const std::int64_t number = blockIdx.x / unsigned(x.s.slices);
    first = number % blocks * block_length;
    batch = number / blocks;
    begin = slice * x.s.k_per_slice;
    end = x.s.g.k < begin + x.s.k_per_slice ? x.s.g.k : begin + x.s.k_per_slice;
  }

  __device__ const T* large(const SkinnyArguments<T>& x) const {
    const GemmArguments<T>& g = x.s.g;
    return x.few_rows ? g.b + batch * g.stride_b : g.a + batch * g.stride_a;
  }
  __device__ const T* small(const SkinnyArguments<T>& x) const {
    const GemmArguments<T>& g = x.s.g;
    return x.few_rows ? g.a + batch * g.stride_a : g.b + batch * g.stride_b;
  }
};

/// Writes the sum of row `i` of the small operand and element `l` of the large one.
template <class T>
__device__ __forceinline__ void write_sum(const SkinnyArguments<T>& x, const SkinnyWork<T>& work, int i, std::int64_t l,
                                          Scalar<T> sum) {
  const GemmArguments<T>& g = x.s.g;
  if (i >= x.count || l >= x.length) return;
  const std::int64_t row = x.few_rows ? i : l, column = x.few_rows ? l : i;
  if (x.s.partial != nullptr) {
    x.s.partial[((work.slice * g.batch + work.batch) * g.m + row) * x.s.partial_ld + column] = sum;
  } else {
    const Elements<T> c = g.c + (work.batch * g.stride_c + row * g.ldc + column);
    const Elements<T> d = g.d + (work.batch * g.stride_d + row * g.ldd + column);
    d.write(Epilogue<T>(g)(Vector<Scalar<T>, 1>{{sum}}, c));  // bias and activation are for the second kernel
  }
}

/// Adds sums of kMembers (lanes or warps) by halves, always in the same order: of two members each goes on with a half
/// of the sums, as long as there are several. `exchange(given, half)` swaps given values with member ^ half. Returns
/// the first of the kSums that the member has in the end, in sum[0] and what follows: kSums / kMembers of them, but one
/// at least; kSums where another member has them.
template <int kMembers, int kHalf = kMembers / 2, int kSums, class T, class Exchange>
__device__ __forceinline__ int add_by_halves(T (&sum)[kSums], int member, const Exchange& exchange, int first = 0) {
  constexpr int kLive = kSums * 2 * kHalf / kMembers, kKept = kLive > 1 ? kLive / 2 : 1;
  constexpr int kOthers = kLive > 1 ? kKept : 0;  // where the sums begin that the upper member keeps
  const bool upper = (member & kHalf) != 0;
  T given[kKept];
#pragma unroll
  for (int e = 0; e < kKept; ++e) {
    given[e] = upper ? sum[e] : sum[e + kOthers];
    sum[e] = upper ? sum[e + kOthers] : sum[e];
  }
  exchange(given, kHalf);
#pragma unroll
  for (int e = 0; e < kKept; ++e) sum[e] += given[e];
  if (upper) first = kLive > 1 ? first + kKept : kSums;
  if constexpr (kHalf > 1) return add_by_halves<kMembers, kHalf / 2>(sum, member, exchange, first);
  return first;
}

/// Four words apart, so that threads of different rows write to different banks.
template <int kChunk>
inline constexpr int kRowPitch = kChunk + 4;

/// kCount rows of the small operand, of k from `begin` on, with zeros for what does not exist.
/// [k][row] or, kRowsFirst, [row][kRowPitch of k].
template <class T, int kCount, int kChunk, bool kRowsFirst>
__device__ __forceinline__ void read_small(const SkinnyArguments<T>& x, const T* small, std::int64_t begin,
                                           std::int64_t end, Scalar<T>* shared) {
  const bool rows_contiguous = x.small_row == 1;
  for (int e = int(threadIdx.x); e < kCount * kChunk; e += kSkinnyThreads) {
    const int i = rows_contiguous ? e % kCount : e / kChunk, p = rows_contiguous ? e / kCount : e % kChunk;
    T value{};
    if (i < x.count && begin + p < end) value = small[i * x.small_row + (begin + p) * x.small_k];
    shared[kRowsFirst ? i * kRowPitch<kChunk> + p : p * kCount + i] = widened(value);
  }
}

/// The extent-major large operand of a thread: element (l, p) is large[p * ld + l]. A warp takes every
/// kSkinnyWarps-th of k.
template <class T, int kCount, int kVector>
struct ExtentMajorSums {
  using S = Scalar<T>;
  static constexpr int kChunk = kSkinnyChunk, kAhead = kChunk / kSkinnyWarps, kSums = kCount * kVector;
  Vector<T, kVector> value[kAhead];
  S sum[kSums]{};  ///< [row][element]

  /// Starts to read a chunk of k from `begin` on, of which those below `end` exist. `exists`: whether the thread has
  /// elements. A barrier has to follow: without one the compiler moves each read to its products.
  __device__ __forceinline__ void read(const T* large, std::int64_t ld, bool exists, std::int64_t begin,
                                       std::int64_t end) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      const std::int64_t p = begin + s * kSkinnyWarps + int(threadIdx.x) / 32;
      value[s] = Vector<T, kVector>{};
      if (exists && p < end) value[s] = *reinterpret_cast<const Vector<T, kVector>*>(large + p * ld);
    }
  }

  /// Adds the chunk. `small`: the other operand of it.
  __device__ __forceinline__ void add(const S* small) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      const auto wide = widened(value[s]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const S factor = small[(s * kSkinnyWarps + int(threadIdx.x) / 32) * kCount + i];
#pragma unroll
        for (int v = 0; v < kVector; ++v) sum[i * kVector + v] = fma(factor, wide.value[v], sum[i * kVector + v]);
      }
    }
  }

  /// Adds the warps' sums. Returns the first that the warp has.
  __device__ __forceinline__ int add_warps(S* shared) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    return add_by_halves<kSkinnyWarps>(sum, warp, [&]<int kGiven>(S(&given)[kGiven], int half) {
      __syncthreads();
#pragma unroll
      for (int e = 0; e < kGiven; ++e) shared[(warp * kGiven + e) * 32 + lane] = given[e];
      __syncthreads();
#pragma unroll
      for (int e = 0; e < kGiven; ++e) given[e] = shared[((warp ^ half) * kGiven + e) * 32 + lane];
    });
  }
};

template <class T, int kCount, int kVector>
__global__ void __launch_bounds__(kSkinnyThreads)
    gemm_skinny_extent_major_kernel(const __grid_constant__ SkinnyArguments<T> x) {
  using Sums = ExtentMajorSums<T, kCount, kVector>;
  constexpr int kChunk = Sums::kChunk;
  constexpr int kGiven = Sums::kSums > 1 ? Sums::kSums / 2 : 1, kInWarps = kSkinnyWarps * kGiven * 32;
  constexpr int kShared = kChunk * kCount > kInWarps ? kChunk * kCount : kInWarps;
  __shared__ __align__(16) Scalar<T> shared[kShared];
  const SkinnyWork<T> work(x, 32 * kVector);
  const std::int64_t ld = x.few_rows ? x.s.g.ldb : x.s.g.lda;
  const std::int64_t l = work.first + int(threadIdx.x) % 32 * kVector;
  const T* const large = work.large(x) + l;
  const T* const small = work.small(x);

  Sums sums;
  for (std::int64_t begin = work.begin; begin < work.end; begin += kChunk) {
    sums.read(large, ld, l < x.length, begin, work.end);
    __syncthreads();
    read_small<T, kCount, kChunk, false>(x, small, begin, work.end, shared);
    __syncthreads();
    sums.add(shared);
  }
  const int first = sums.add_warps(shared);
  if (first == Sums::kSums) return;
  constexpr int kWritten = Sums::kSums > kSkinnyWarps ? Sums::kSums / kSkinnyWarps : 1;
#pragma unroll
  for (int e = 0; e < kWritten; ++e) write_sum(x, work, (first + e) / kVector, l + (first + e) % kVector, sums.sum[e]);
}

/// The K-major large operand of a warp: element (l, p) is large[l * ld + p]. Reads are one step of the loop ahead of
/// the products.
template <class T, int kCount, int kVector>
struct KMajorSums {
  using S = Scalar<T>;
  static constexpr int kRows = kSkinnyRows, kAhead = kCount > 1 ? 1 : 2, kSums = kRows * kCount;
  static constexpr int kStep = kAhead * 32 * kVector, kChunk = skinny_k_major_chunk<T>(kVector);
  Vector<T, kVector> next[kAhead][kRows], value[kAhead][kRows];
  S sum[kSums]{};  ///< [row of the large operand][of the small one]

  /// Starts to read a step of k from `from` on, of which those below `end` exist, of rows `l` on of `length`.
  __device__ __forceinline__ void read(const T* large, std::int64_t ld, std::int64_t l, std::int64_t length,
                                       std::int64_t from, std::int64_t end) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t p = from + (s * 32 + int(threadIdx.x) % 32) * kVector;
        next[s][r] = Vector<T, kVector>{};
        if (l + r < length && p < end) next[s][r] = *reinterpret_cast<const Vector<T, kVector>*>(large + r * ld + p);
      }
  }

  /// Takes what has been read as the next step's factors.
  __device__ __forceinline__ void advance() {
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
#pragma unroll
      for (int r = 0; r < kRows; ++r) value[s][r] = next[s][r];
  }

  /// Adds a step. `small`: the other operand from there on.
  __device__ __forceinline__ void add(const S* small) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      Vector<S, kVector> wide[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) wide[r] = widened(value[s][r]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const auto factor = *reinterpret_cast<const Vector<S, kVector>*>(small + i * kRowPitch<kChunk> +
                                                                         (s * 32 + int(threadIdx.x) % 32) * kVector);
#pragma unroll
        for (int r = 0; r < kRows; ++r)
#pragma unroll
          for (int v = 0; v < kVector; ++v)
            sum[r * kCount + i] = fma(factor.value[v], wide[r].value[v], sum[r * kCount + i]);
      }
    }
  }

  /// Adds the lanes' sums. Returns the first that the lane has.
  __device__ __forceinline__ int add_lanes() {
    return add_by_halves<32>(sum, int(threadIdx.x) % 32, [&]<int kGiven>(S(&given)[kGiven], int half) {
#pragma unroll
      for (int e = 0; e < kGiven; ++e) given[e] = __shfl_xor_sync(0xffffffffu, given[e], half);
    });
  }
};

template <class T, int kCount, int kVector>
__global__ void __launch_bounds__(kSkinnyThreads, sizeof(Scalar<T>) == 4 ? 2 : 1)
    gemm_skinny_k_major_kernel(const __grid_constant__ SkinnyArguments<T> x) {
  using Sums = KMajorSums<T, kCount, kVector>;
  constexpr int kRows = Sums::kRows, kChunk = Sums::kChunk, kStep = Sums::kStep;
  __shared__ __align__(16) Scalar<T> shared[kCount * kRowPitch<kChunk>];
  const SkinnyWork<T> work(x, kRows * kSkinnyWarps);
  const std::int64_t ld = x.few_rows ? x.s.g.ldb : x.s.g.lda;
  const std::int64_t l = work.first + int(threadIdx.x) / 32 * kRows;
  const T* const large = work.large(x) + l * ld;
  const T* const small = work.small(x);

  Sums sums;
  sums.read(large, ld, l, x.length, work.begin, work.end);
  for (std::int64_t begin = work.begin; begin < work.end; begin += kChunk) {
    __syncthreads();
    read_small<T, kCount, kChunk, true>(x, small, begin, work.end, shared);
    __syncthreads();
    for (int block = 0; block < kChunk; block += kStep) {
      sums.advance();
      sums.read(large, ld, l, x.length, begin + block + kStep, work.end);
      sums.add(shared + block);
    }
  }
  const int first = sums.add_lanes();
  if (first == Sums::kSums) return;
  constexpr int kWritten = Sums::kSums > 32 ? Sums::kSums / 32 : 1;
#pragma unroll
  for (int e = 0; e < kWritten; ++e) write_sum(x, work, (first + e) % kCount, l + (first + e) / kCount, sums.sum[e]);
}

}  // namespace tessera::cuda
