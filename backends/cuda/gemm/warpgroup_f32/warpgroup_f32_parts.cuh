// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Elements of f32 as sums of parts that the tensor cores take, and the kernels that write those of an operand.
#pragma once

#include "../../convert.cuh"
#include "../../early_start.cuh"
#include "../bf16_parts_f32.cuh"
#include "warpgroup_f32_kernels.cuh"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tessera::cuda {

/// x 2^scale is nearly the sum of two f16.
struct F16Parts {
  using Element = float;
  static constexpr int kParts = 2, kWidth = 8;

  /// 2^i for a normal result.
  static __device__ __forceinline__ float power(int i) { return __uint_as_float(std::uint32_t(i + 127) << 23); }
  /// The scale of a line whose largest element has these bits: it comes to lie between 2^13 and 2^14. 0 for zeros, and
  /// where an element is not finite.
  static __device__ __forceinline__ std::int32_t scale_of(std::uint32_t largest) {
    if (largest == 0 || largest >= 0x7f800000u) return 0;
    const int exponent = largest < 0x00800000u ? -118 - __clz(int(largest)) : int(largest >> 23) - 127;
    return 13 - exponent;
  }
  static __device__ __forceinline__ void split(float (&x)[kWidth], std::int32_t scale, uint4 (&parts)[kParts]) {
    // Two factors: 2^162 is none of f32.
    const int most = scale > 100 ? 100 : scale;
    const float factor = power(most), more = power(scale - most);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) x[e] = x[e] * factor * more;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      std::uint32_t words[kWidth / 2];
#pragma unroll
      for (int e = 0; e < kWidth; e += 2) {
        const std::uint32_t word = words[e / 2] = detail::word_of(float16{}, x[e], x[e + 1]);
        x[e] -= detail::lower(float16{}, word), x[e + 1] -= detail::upper(float16{}, word);
      }
      parts[part] = {words[0], words[1], words[2], words[3]};
    }
  }
};

struct F16x3 {
  using Part = float16;
  using OfA = F16Parts;
  using OfB = F16Parts;
  static constexpr int kCompute = TESSERA_COMPUTE_F16X3, kWidth = F16Parts::kWidth;
  static constexpr bool kScales = true;

  static constexpr int kProducts = 3;
  static __device__ constexpr PartPair product(int i) {
    constexpr PartPair kPairs[] = {{0, 1}, {1, 0}, {0, 0}};
    return kPairs[i];
  }
};

/// 64 lines by a stretch of k of a matrix, which a block of threads has to do. A warp reads whole sectors: of 8 lines
/// 4 pieces of 16 bytes each, or of 32 neighbouring lines one; a thread has every fourth piece of its line.
template <int kWidth>
struct PartsWork {
  std::int64_t matrix, first_line;  ///< of the matrix
  int row, piece;                   ///< the thread's, of the 64 lines and of the pieces of the stretch
  static constexpr int kPieces = kPartsDepth / kWidth / 4;  ///< of a thread

  /// Number `number` of the operand's, each of `stretches` stretches.
  __device__ PartsWork(const PartsOperand& o, std::int64_t lines_number) {
    const std::int64_t groups = o.blocks() * (o.block / kPartsLines);
    matrix = lines_number / groups, first_line = lines_number % groups * kPartsLines;
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    row = o.k_major ? 8 * warp + lane / 4 : lane + 32 * (warp % 2);
    piece = o.k_major ? lane % 4 : warp / 2;
  }
  __device__ std::int64_t line() const { return first_line + row; }

  /// The thread's elements, of type T, from `k` on: piece, then along k. Zeros where none are.
  template <class T>
  __device__ __forceinline__ void load(const PartsOperand& o, std::int64_t k, float (&x)[kPieces][kWidth]) const {
    constexpr int kVector = int(16 / sizeof(T));
    const bool exists = line() < o.lines;
    const T* const from =
        static_cast<const T*>(o.data) + matrix * o.stride + (exists ? line() * (o.k_major ? o.ld : 1) : 0);
    if (o.k_major && o.vectors) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
#pragma unroll
        for (int e = 0; e < kWidth; e += kVector) {
          const std::int64_t at = k + (4 * i + piece) * kWidth + e;
          Vector<T, kVector> v{};
          if (exists && at + kVector <= o.k) {
            const uint4 words = __ldg(reinterpret_cast<const uint4*>(from + at));
            memcpy(&v, &words, sizeof v);
          } else if (exists) {
#pragma unroll
            for (int one = 0; one < kVector - 1; ++one)
              if (at + one < o.k) v.value[one] = from[at + one];
          }
          widen(v, &x[i][e]);
        }
      return;
    }
    const std::int64_t step = o.k_major ? 1 : o.ld;
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const std::int64_t at = k + (4 * i + piece) * kWidth + e;
        x[i][e] = exists && at < o.k ? value_at(from + at * step) : 0.0f;
      }
  }
};

/// Of lines' shares of k.
__device__ __forceinline__ std::int64_t largest_share(const PartsOperand& o) {
  const std::int64_t share = (o.k + kLargestShares - 1) / kLargestShares;
  return (share + kPartsDepth - 1) / kPartsDepth * kPartsDepth;
}

/// Finds the largest element of each share of k of each line. Not finite ones are larger than all others.
template <class Mode>
__global__ void __launch_bounds__(kPartsThreads) gemm_largest_kernel(const __grid_constant__ PartsArguments arguments) {
  constexpr int kWidth = Mode::kWidth;
  __shared__ std::uint32_t largest[kPartsLines];
  wait_for_predecessor();
  start_successor();
  const std::int64_t items_a = arguments.of[0].all_lines() / kPartsLines * kLargestShares;
  const bool is_b = std::int64_t(blockIdx.x) >= items_a;
  const PartsOperand& o = arguments.of[is_b];
  const std::int64_t item = blockIdx.x - (is_b ? items_a : 0);
  const PartsWork<kWidth> work(o, item / kLargestShares);
  const std::int64_t share = largest_share(o), first = item % kLargestShares * share;
  const std::int64_t last = first + share < o.k ? first + share : o.k;
  if (threadIdx.x < kPartsLines) largest[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t mine = 0;
  for (std::int64_t k = first; k < last; k += kPartsDepth) {
    float x[PartsWork<kWidth>::kPieces][kWidth];
    work.template load<float>(o, k, x);
#pragma unroll
    for (auto& piece : x)
#pragma unroll
      for (const float value : piece) mine = max(mine, __float_as_uint(value) & 0x7fffffffu);
  }
  atomicMax(&largest[work.row], mine);
  __syncthreads();
  if (threadIdx.x < kPartsLines) {
    const std::int64_t line = work.matrix * o.blocks() * o.block + work.first_line + threadIdx.x;
    o.largest[line * kLargestShares + item % kLargestShares] = largest[threadIdx.x];
  }
}

/// The scales of a block's lines, by what gemm_largest_kernel has found. The first of k keeps them.
__device__ __forceinline__ void find_scales(const PartsOperand& o, std::int64_t matrix, std::int64_t first_line,
                                            bool keeps, std::int32_t (&scales)[kPartsLines]) {
  static_assert(kPartsThreads == 4 * kPartsLines && kLargestShares == 16);
  const std::int64_t line = matrix * o.blocks() * o.block + first_line + threadIdx.x / 4;
  const uint4 shares = *reinterpret_cast<const uint4*>(o.largest + line * kLargestShares + threadIdx.x % 4 * 4);
  std::uint32_t largest = max(max(shares.x, shares.y), max(shares.z, shares.w));
  for (int lanes = 1; lanes <= 2; lanes *= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, lanes));
  if (threadIdx.x % 4 == 0) {
    const std::int32_t scale = scales[threadIdx.x / 4] = F16Parts::scale_of(largest);
    if (keeps) o.scale[line] = scale;
  }
  __syncthreads();
}

/// Writes the parts of a stretch of 64 lines.
template <class Mode, class Of>
__device__ __forceinline__ void write_parts(const PartsOperand& o, std::int64_t item, std::int64_t stretches,
                                            std::int32_t (&scales)[kPartsLines]) {
  constexpr int kWidth = Mode::kWidth, kAcross = WarpgroupF32Tile::kSlab / kWidth;
  using Work = PartsWork<kWidth>;
  const std::int64_t number = item % stretches;
  const Work work(o, item / stretches);
  float x[Work::kPieces][kWidth];
  work.template load<typename Of::Element>(o, number * kPartsDepth, x);
  std::int32_t scale = 0;
  if constexpr (Mode::kScales) {
    find_scales(o, work.matrix, work.first_line, number == 0, scales);
    scale = scales[work.row];
  }
  const std::int64_t block = work.matrix * o.blocks() + work.first_line / o.block, slabs = o.slabs();
  const int line = int(work.line() % o.block);
#pragma unroll
  for (int i = 0; i < Work::kPieces; ++i) {
    const int piece = 4 * i + work.piece;
    const std::int64_t slab = number * (kPartsDepth / WarpgroupF32Tile::kSlab) + piece / kAcross;
    uint4 parts[Of::kParts];
    Of::split(x[i], scale, parts);
    if (slab >= slabs) continue;
    uint4* const to = reinterpret_cast<uint4*>(o.parts) + (block * slabs + slab) * (Of::kParts * kAcross * o.block) +
                      (piece % kAcross * o.block + line);
#pragma unroll
    for (int part = 0; part < Of::kParts; ++part) to[part * kAcross * o.block] = parts[part];
  }
}

/// Writes the parts.
template <class Mode>
__global__ void __launch_bounds__(kPartsThreads) gemm_parts_kernel(const __grid_constant__ PartsArguments arguments) {
  __shared__ std::int32_t scales[kPartsLines];
  wait_for_predecessor();
  start_successor();
  const auto stretches = [](const PartsOperand& o) { return (o.k + kPartsDepth - 1) / kPartsDepth; };
  const std::int64_t items_a = arguments.of[0].all_lines() / kPartsLines * stretches(arguments.of[0]);
  // Backwards, after gemm_largest_kernel: what that has read last is in the second-level cache.
  const std::int64_t place = Mode::kScales ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const bool is_b = place >= items_a;
  const PartsOperand& o = arguments.of[is_b];
  const std::int64_t item = place - (is_b ? items_a : 0);
  if constexpr (std::is_same_v<typename Mode::OfA, typename Mode::OfB>)
    write_parts<Mode, typename Mode::OfA>(o, item, stretches(o), scales);
  else if (is_b)
    write_parts<Mode, typename Mode::OfB>(o, item, stretches(o), scales);
  else
    write_parts<Mode, typename Mode::OfA>(o, item, stretches(o), scales);
}

}  // namespace tessera::cuda
