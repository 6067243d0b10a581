// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products with at most 16 rows or columns of C: they read the large operand once and do little with
/// it, so all that counts is to keep enough reads under way.
///
/// Seen from the large operand, whose extent (n or m) is `length`, the other one has `count` <= 16 rows
/// of k, which come through shared memory a chunk of k at a time. Where the large operand's extent is
/// contiguous, a thread keeps `count` sums for each of its neighbouring elements, and the warps of a block
/// take k in turns; where its depth is, a warp keeps the sums of a few rows, spread over its lanes. Slices
/// of k fill the device; sums are added in order.
#include "slices.cuh"

#include "../vector.cuh"
#include "../vector_access.hpp"
#include "algorithms.hpp"

#include <cmath>
#include <string>

namespace tessera::cuda {
namespace {

constexpr int kMostCount = 16;
constexpr int kWarps = 8, kThreads = 32 * kWarps;

constexpr std::int64_t kThinMostSplit = 128;

/// Slices of k: enough for four blocks a multiprocessor (eight or sixteen where they hold few sums), none shorter than
/// two of the chunks that the block reads of the small operand.
std::int64_t thin_split(const plugin::GemmProblem& p, int multiprocessors) {
  const bool few_rows = p.m <= p.n;
  const bool depth_contiguous = few_rows ? p.trans_b : !p.trans_a;
  const std::int64_t block_length = depth_contiguous ? 4 * kWarps : 32 * 16 / std::int64_t(plugin::size_of(p.dtype));
  const std::int64_t blocks = std::max(std::int64_t(1), tiles_along(std::max(p.m, p.n), int(block_length)) * p.batch);
  const std::int64_t blocks_wanted = std::min(p.m, p.n) > 2 ? 4 : depth_contiguous ? 16 : 8;
  const std::int64_t fill = blocks_wanted * multiprocessors / blocks;
  const std::int64_t shortest = depth_contiguous ? 4096 / std::int64_t(plugin::size_of(p.dtype)) : 256;
  return std::clamp(std::min(fill, p.k / shortest), std::int64_t(1), kThinMostSplit);
}

template <class T>
struct ThinArguments {
  SlicedArguments<T> s;
  bool few_rows;                        ///< of C: B is the large operand, else A
  std::int64_t length;                  ///< of the large operand's extent
  std::int64_t small_row, small_depth;  ///< steps in the small operand
  int count;
};

/// The block's piece of the work.
template <class T>
struct ThinPiece {
  std::int64_t first;       ///< along the length
  std::int64_t begin, end;  ///< along k
  std::int64_t batch;
  unsigned slice;

  __device__ ThinPiece(const ThinArguments<T>& x, int block_length) {
    slice = blockIdx.x % unsigned(x.s.slices);
    const std::int64_t pieces = (x.length + block_length - 1) / block_length;
    const std::int64_t number = blockIdx.x / unsigned(x.s.slices);
    first = number % pieces * block_length;
    batch = number / pieces;
    begin = slice * x.s.slice_depth;
    end = x.s.g.k < begin + x.s.slice_depth ? x.s.g.k : begin + x.s.slice_depth;
  }
};

/// Writes the sum of row `i` of the small operand and element `l` of the large one.
template <class T>
__device__ __forceinline__ void write_sum(const ThinArguments<T>& x, const ThinPiece<T>& piece, int i, std::int64_t l,
                                          T sum) {
  const GemmArguments<T>& g = x.s.g;
  if (i >= x.count || l >= x.length) return;
  const std::int64_t row = x.few_rows ? i : l, column = x.few_rows ? l : i;
  if (x.s.partial != nullptr) {
    x.s.partial[((piece.slice * g.batch + piece.batch) * g.m + row) * x.s.partial_ld + column] = sum;
  } else {
    Epilogue<T>(g).write(g.c + piece.batch * g.stride_c + row * g.ldc + column, sum);
  }
}

/// Four words apart, so that threads of different rows write to different banks.
template <int kChunk>
inline constexpr int kRowPitch = kChunk + 4;

/// kCount rows of the small operand, of k from `begin` on, with zeros for what does not exist.
/// [depth][row] or, kRowsFirst, [row][kRowPitch of depth].
template <class T, int kCount, int kChunk, bool kRowsFirst>
__device__ __forceinline__ void read_small(const ThinArguments<T>& x, const T* small, std::int64_t begin,
                                           std::int64_t end, T* shared) {
  const bool rows_contiguous = x.small_row == 1;
  for (int e = int(threadIdx.x); e < kCount * kChunk; e += kThreads) {
    const int i = rows_contiguous ? e % kCount : e / kChunk, p = rows_contiguous ? e / kCount : e % kChunk;
    T value = T(0);
    if (i < x.count && begin + p < end) value = small[i * x.small_row + (begin + p) * x.small_depth];
    shared[kRowsFirst ? i * kRowPitch<kChunk> + p : p * kCount + i] = value;
  }
}

/// The large operand's extent is contiguous: element (l, p) is large[p * ld + l].
template <class T, int kCount, int kVector>
__global__ void __launch_bounds__(kThreads) gemm_thin_extent_kernel(const __grid_constant__ ThinArguments<T> x) {
  constexpr int kChunk = 128, kAhead = 8;
  constexpr int kSums = kCount * kVector;
  constexpr int kTurns = kWarps / 2 * kSums * 32;  // elements, when the warps' sums are added
  constexpr int kShared = kChunk * kCount > kTurns ? kChunk * kCount : kTurns;
  __shared__ __align__(16) T shared[kShared];
  const GemmArguments<T>& g = x.s.g;
  const ThinPiece<T> piece(x, 32 * kVector);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const std::int64_t ld = x.few_rows ? g.ldb : g.lda;
  const std::int64_t l = piece.first + lane * kVector;
  const T* const large = (x.few_rows ? g.b + piece.batch * g.stride_b : g.a + piece.batch * g.stride_a) + l;
  const T* const small = x.few_rows ? g.a + piece.batch * g.stride_a : g.b + piece.batch * g.stride_b;

  T sum[kCount][kVector]{};
  for (std::int64_t begin = piece.begin; begin < piece.end; begin += kChunk) {
    __syncthreads();
    read_small<T, kCount, kChunk, false>(x, small, begin, piece.end, shared);
    __syncthreads();
    for (int block = 0; block < kChunk; block += kAhead * kWarps) {
      Vector<T, kVector> value[kAhead];
#pragma unroll
      for (int s = 0; s < kAhead; ++s) {
        const std::int64_t p = begin + block + s * kWarps + warp;
        value[s] = Vector<T, kVector>{};
        if (l < x.length && p < piece.end) value[s] = *reinterpret_cast<const Vector<T, kVector>*>(large + p * ld);
      }
#pragma unroll
      for (int s = 0; s < kAhead; ++s)
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const T factor = shared[(block + s * kWarps + warp) * kCount + i];
#pragma unroll
          for (int v = 0; v < kVector; ++v) sum[i][v] = fma(factor, value[s].value[v], sum[i][v]);
        }
    }
  }

  // The warps' sums, by halves: always in the same order.
#pragma unroll
  for (int half = kWarps / 2; half > 0; half /= 2) {
    __syncthreads();
    if (warp >= half && warp < 2 * half)
#pragma unroll
      for (int e = 0; e < kSums; ++e) shared[((warp - half) * kSums + e) * 32 + lane] = sum[e / kVector][e % kVector];
    __syncthreads();
    if (warp < half)
#pragma unroll
      for (int e = 0; e < kSums; ++e) sum[e / kVector][e % kVector] += shared[(warp * kSums + e) * 32 + lane];
  }
  if (warp != 0) return;
#pragma unroll
  for (int i = 0; i < kCount; ++i)
#pragma unroll
    for (int v = 0; v < kVector; ++v) write_sum(x, piece, i, l + v, sum[i][v]);
}

/// The large operand's depth is contiguous: element (l, p) is large[l * ld + p].
template <class T, int kCount, int kVector>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 4 ? 2 : 1)
    gemm_thin_depth_kernel(const __grid_constant__ ThinArguments<T> x) {
  constexpr int kRows = 4, kAhead = kCount > 1 ? 1 : 2;
  constexpr int kChunk = 4 * 32 * kVector;
  __shared__ __align__(16) T shared[kCount * kRowPitch<kChunk>];
  const GemmArguments<T>& g = x.s.g;
  const ThinPiece<T> piece(x, kRows * kWarps);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const std::int64_t ld = x.few_rows ? g.ldb : g.lda;
  const std::int64_t l = piece.first + warp * kRows;
  const T* const large = (x.few_rows ? g.b + piece.batch * g.stride_b : g.a + piece.batch * g.stride_a) + l * ld;
  const T* const small = x.few_rows ? g.a + piece.batch * g.stride_a : g.b + piece.batch * g.stride_b;

  // Reads are one step of the loop ahead of the products.
  constexpr int kStep = kAhead * 32 * kVector;
  Vector<T, kVector> next[kAhead][kRows], value[kAhead][kRows];
  const auto read = [&](std::int64_t from) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t p = from + (s * 32 + lane) * kVector;
        next[s][r] = Vector<T, kVector>{};
        if (l + r < x.length && p < piece.end)
          next[s][r] = *reinterpret_cast<const Vector<T, kVector>*>(large + r * ld + p);
      }
  };

  T sum[kRows][kCount]{};
  read(piece.begin);
  for (std::int64_t begin = piece.begin; begin < piece.end; begin += kChunk) {
    __syncthreads();
    read_small<T, kCount, kChunk, true>(x, small, begin, piece.end, shared);
    __syncthreads();
    for (int block = 0; block < kChunk; block += kStep) {
#pragma unroll
      for (int s = 0; s < kAhead; ++s)
#pragma unroll
        for (int r = 0; r < kRows; ++r) value[s][r] = next[s][r];
      read(begin + block + kStep);
#pragma unroll
      for (int s = 0; s < kAhead; ++s)
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const auto factor = *reinterpret_cast<const Vector<T, kVector>*>(shared + i * kRowPitch<kChunk> + block +
                                                                           (s * 32 + lane) * kVector);
#pragma unroll
          for (int r = 0; r < kRows; ++r)
#pragma unroll
            for (int v = 0; v < kVector; ++v) sum[r][i] = fma(factor.value[v], value[s][r].value[v], sum[r][i]);
        }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      T total = sum[r][i];
#pragma unroll
      for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
      if (lane == 0) write_sum(x, piece, i, l + r, total);
    }
}

template <class T>
struct ThinKernel {
  using Function = void (*)(ThinArguments<T>);
  Function wide, narrow;
  int block_length_wide, block_length_narrow;
};

template <class T, int kCount>
ThinKernel<T> thin_kernel(bool depth_contiguous) {
  constexpr int kWide = 16 / int(sizeof(T));
  if (depth_contiguous)
    return {gemm_thin_depth_kernel<T, kCount, kWide>, gemm_thin_depth_kernel<T, kCount, 1>, 4 * kWarps, 4 * kWarps};
  return {gemm_thin_extent_kernel<T, kCount, kWide>, gemm_thin_extent_kernel<T, kCount, 1>, 32 * kWide, 32};
}

template <class T>
class ThinPlan final : public plugin::Plan {
 public:
  ThinPlan(Context& context, const plugin::GemmProblem& problem, std::int64_t split)
      : context_(context), problem_(problem), split_(split) {
    const auto& p = problem_;
    few_rows_ = p.m <= p.n;
    count_ = few_rows_ ? p.m : p.n;
    const bool depth_contiguous = few_rows_ ? p.trans_b : !p.trans_a;
    kernel_ = count_ <= 1   ? thin_kernel<T, 1>(depth_contiguous)
              : count_ <= 2 ? thin_kernel<T, 2>(depth_contiguous)
              : count_ <= 4 ? thin_kernel<T, 4>(depth_contiguous)
              : count_ <= 8 ? thin_kernel<T, 8>(depth_contiguous)
                            : thin_kernel<T, 16>(depth_contiguous);
    const std::int64_t contiguous = depth_contiguous ? p.k : (few_rows_ ? p.n : p.m);
    wide_ = whole_vectors(p.dtype, {few_rows_ ? p.ldb : p.lda, few_rows_ ? p.stride_b : p.stride_a, contiguous});
    const DeviceGuard guard(context.device());
    prepare(kernel_.wide);
    prepare(kernel_.narrow);
    if (split > 1) prepare(gemm_add_slices_kernel<T>);
  }

  std::uint64_t workspace_bytes() const override {
    return split_ == 1 ? 0 : std::uint64_t(split_ * problem_.batch * problem_.m * problem_.n) * sizeof(T);
  }

  void execute(const plugin::Execution& e) override {
    const auto& p = problem_;
    ThinArguments<T> x{{arguments_of<T>(p, e), int(split_), 0, split_ > 1 ? e.workspace<T>() : nullptr, p.n},
                       few_rows_,
                       few_rows_ ? p.n : p.m,
                       few_rows_ ? (p.trans_a ? 1 : p.lda) : (p.trans_b ? p.ldb : 1),
                       few_rows_ ? (p.trans_a ? p.lda : 1) : (p.trans_b ? 1 : p.ldb),
                       int(count_)};
    // Whole copies of 16 bytes: a slice begins where one does.
    constexpr std::int64_t kUnit = 16;
    x.s.slice_depth = (x.s.g.k + split_ * kUnit - 1) / (split_ * kUnit) * kUnit;
    const T* const large = few_rows_ ? x.s.g.b : x.s.g.a;
    const bool wide = wide_ && at_vector(large);
    const int length = wide ? kernel_.block_length_wide : kernel_.block_length_narrow;
    const std::int64_t blocks = tiles_along(x.length, length) * p.batch * split_;
    const DeviceGuard guard(context_.device());
    launch(wide ? kernel_.wide : kernel_.narrow, dim3(unsigned(blocks)), dim3(kThreads), 0, context_.stream(), x);
    if (split_ > 1) launch_add_slices(x.s, context_.stream());
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  std::int64_t split_, count_;
  bool few_rows_, wide_;
  ThinKernel<T> kernel_;
};

std::string why_unsupported(const plugin::GemmProblem& p, int) {
  if (std::min(p.m, p.n) > kMostCount)
    return "C has more than " + std::to_string(kMostCount) + " rows and columns: " + std::to_string(p.m) + " x " +
           std::to_string(p.n);
  // One block for 32 of the larger extent and a slice, at most: what a grid may have, with the most slices.
  const double blocks = std::ceil(double(std::max(p.m, p.n)) / 32.0) * double(p.batch);
  if (blocks <= double(kMaxGridX) / double(kThinMostSplit)) return {};
  return "the larger extent of C has more than " + std::to_string(kMaxGridX / kThinMostSplit) +
         " pieces of 32 in all matrices";
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& p, plugin::PlanOptions options) {
  const std::uint64_t slice =
      std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(p.n) * plugin::size_of(p.dtype);
  const std::int64_t most =
      slice == 0 ? 1
                 : std::max(std::int64_t(1),
                            std::int64_t(std::min(options.workspace_limit / slice, std::uint64_t(kThinMostSplit))));
  const std::int64_t automatic = std::min(most, thin_split(p, context.limits().multiprocessors));
  const std::int64_t split = options.parameters.take("split", automatic, 1, most);
  if (p.dtype == TESSERA_F64) return std::make_unique<ThinPlan<double>>(context, p, split);
  return std::make_unique<ThinPlan<float>>(context, p, split);
}

}  // namespace

const GemmAlgorithm kGemmThin{"thin", why_unsupported, make, 0.10};

}  // namespace tessera::cuda
