// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Matrices of 16-bit elements copied to rows that begin at multiples of 16 bytes.
#pragma once

#include "../early_start.cuh"
#include "gemm.cuh"

#include <cstdint>

namespace tessera::cuda {

inline constexpr int kAlignedCopyThreads = 256, kAlignedCopyWords = 8;

/// target[r * target_ld + c] = source[r * source_ld + c] for r < rows, c < columns. What follows a row's last column up
/// to the next multiple of two is overwritten, too.
struct AlignedCopy {
  const std::uint16_t* source;
  std::int64_t source_ld, rows, columns;
  std::uint16_t* target;  ///< at a multiple of 4 bytes, as target_ld is of two elements
  std::int64_t target_ld;
  unsigned across = 0, blocks = 0;  ///< of the launch: along a row, and in all
};
/// Up to two matrices, those of a product. Each has blocks of its own: those without work cost as much as others.
struct AlignedCopies {
  AlignedCopy copies[2];
  int count = 0;
};

/// The pair of elements at word `word` of a row as it lies in memory, whose first pair begins `odd` elements before the
/// row. Zero for what is not of the row.
__device__ __forceinline__ std::uint32_t word_of_row(const std::uint16_t* row, std::int64_t columns, int odd,
                                                     std::int64_t word) {
  const std::int64_t first = 2 * word - odd;
  if (first >= 0 && first + 1 < columns) return *reinterpret_cast<const std::uint32_t*>(row + first);
  const std::uint32_t low = first >= 0 && first < columns ? row[first] : 0u;
  const std::uint32_t high = first + 1 >= 0 && first + 1 < columns ? row[first + 1] : 0u;
  return low | high << 16;
}

/// A warp copies kWords words a lane of a row at a time, of whole words of the source: where a row begins in the middle
/// of one, each word of the target has halves of two.
inline __global__ void __launch_bounds__(kAlignedCopyThreads)
    gemm_aligned_copy_kernel(const __grid_constant__ AlignedCopies copies) {
  constexpr int kWords = kAlignedCopyWords;
  start_successor();
  wait_for_predecessor();  // which may have made the source, or read the target
  const unsigned before = blockIdx.x < copies.copies[0].blocks ? 0 : copies.copies[0].blocks;
  const AlignedCopy& x = copies.copies[before > 0];
  const unsigned block = blockIdx.x - before;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const std::int64_t words = ceil_div(x.columns, 2);
  const std::int64_t begin = block % x.across * std::int64_t(32 * kWords);
  const std::int64_t r = block / x.across * std::int64_t(kAlignedCopyThreads / 32) + warp;
  if (r >= x.rows) return;
  const std::uint16_t* const row = x.source + r * x.source_ld;
  const int odd = int(reinterpret_cast<std::uintptr_t>(row) / 2 % 2);
  std::uint32_t word[kWords + 1];
#pragma unroll
  for (int i = 0; i < kWords; ++i) word[i] = word_of_row(row, x.columns, odd, begin + 32 * i + lane);
  word[kWords] = lane == 0 && odd != 0 ? word_of_row(row, x.columns, odd, begin + 32 * kWords) : 0u;
  auto* const target = reinterpret_cast<std::uint32_t*>(x.target + r * x.target_ld) + begin;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    // Of the next lane, which after the last one is the first of the next words.
    const std::uint32_t from = lane == 0 ? word[i + 1] : word[i];
    const std::uint32_t next = __shfl_sync(0xffffffffu, from, (lane + 1) % 32);
    const std::uint32_t value = odd != 0 ? __funnelshift_r(word[i], next, 16) : word[i];
    if (begin + 32 * i + lane < words) target[32 * i + lane] = value;
  }
}

inline void launch_aligned_copies(AlignedCopies x, cudaStream_t stream, EarlyStart start) {
  unsigned blocks = 0;
  for (AlignedCopy* copy = x.copies; copy != x.copies + x.count; ++copy) {
    copy->across = unsigned(ceil_div(copy->columns, 64 * kAlignedCopyWords));
    copy->blocks = copy->across * unsigned(ceil_div(copy->rows, kAlignedCopyThreads / 32));
    blocks += copy->blocks;
  }
  launch(gemm_aligned_copy_kernel, dim3(blocks), dim3(kAlignedCopyThreads), 0, stream, start, x);
}

}  // namespace tessera::cuda
