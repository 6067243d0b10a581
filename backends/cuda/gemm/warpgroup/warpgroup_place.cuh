// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where a thread's sums lie: what the product instruction gives it, and what that is in D.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Sum 4 i + e of a thread is of row() + kHalf (e / 2) of its warpgroup's 64, and of column() + 8 i + e % 2 of the
/// tile. kFragments: A comes by registers, and which rows a thread has is chosen so that it reads neighbours, and 16
/// threads all banks of shared memory. kTurned: D lies by columns, so that neighbours in memory are of one column; a
/// thread has neighbours then with fragments alone.
template <bool kFragments, bool kTurnedValue>
struct WarpgroupPlace {
  static constexpr bool kTurned = kTurnedValue;
  static constexpr int kHalf = kFragments ? 1 : 8;
  static constexpr bool kPairs = kFragments || !kTurned;

  static __device__ __forceinline__ int row() {
    const int warp = int(threadIdx.x) % 128 / 32, lane = int(threadIdx.x) % 32;
    if constexpr (kFragments) return warp / 2 * 32 + part() * 4 + lane / 4 % 2 * 2;
    return 16 * warp + lane / 4;
  }
  static __device__ __forceinline__ int column() { return int(threadIdx.x) % 4 * 2; }

  /// Pairs of sums that are neighbours in memory: two of every four.
  static __device__ constexpr int first(int four, int pair) { return 4 * four + (kTurned ? pair : 2 * pair); }
  static __device__ constexpr int second(int four, int pair) { return first(four, pair) + (kTurned ? 2 : 1); }
  /// How many lines, and how many elements along a line, the pair is behind the thread's first.
  static __device__ constexpr int line(int four, int pair) { return kTurned ? 8 * four + pair : kHalf * pair; }
  static __device__ constexpr int along(int four) { return kTurned ? 0 : 8 * four; }
  /// The same of the second of a pair behind the first: along the line, where they are neighbours, one.
  static constexpr int kApart = kTurned ? kHalf : 1;

  /// A thread's elements for a product, of the 64 rows of a stage's tile, which are neighbours: the `number`th eight of
  /// its k.
  template <class Operand>
  static __device__ __forceinline__ void read_fragment(std::uint32_t (&fragment)[4], std::uint32_t stage, int number) {
    static_assert(kFragments && !Operand::kKMajor && Operand::kLine == 32);
    const int block = int(threadIdx.x) % 128 / 64, lane = int(threadIdx.x) % 32, k = lane % 4;
    const std::uint32_t in_part = stage + unsigned(block * Operand::kBlockBytes + lane / 4 % 2 * 8);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                   : "=r"(fragment[2 * half]), "=r"(fragment[2 * half + 1])
                   : "r"(in_part + unsigned(number * 1024 + swizzled(k + 4 * half, part()))));
  }

 private:
  /// Of 16 bytes, of the eight of 32 rows: the two halves of a warp have all four times two banks of each.
  static __device__ __forceinline__ int part() {
    const int warp = int(threadIdx.x) % 128 / 32, lane = int(threadIdx.x) % 32;
    return warp % 2 * 2 + lane / 16 + lane / 8 % 2 * 4;
  }
};

}  // namespace tessera::cuda
