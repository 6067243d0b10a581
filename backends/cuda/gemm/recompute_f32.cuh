// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Sums of the tensor cores that are no finite numbers, computed again in f32.
#pragma once

#include "../convert.cuh"

#include <cmath>
#include <cstdint>

namespace tessera::cuda {

/// An operand in memory, and which of its rows or columns a thread's sums begin with.
template <class T = float>
struct RecomputedOperand {
  const T* data;
  std::int64_t distance, step;  ///< of its rows or columns, and of neighbours along k
  std::int64_t extent, first;
};

/// The sum of products of elements, `step_a` and `step_b` apart, from `first` to `last`, in f32.
template <class A, class B>
__device__ __forceinline__ float sum_in_f32(const A* a, std::int64_t step_a, const B* b, std::int64_t step_b,
                                            std::int64_t first, std::int64_t last) {
  float sum = 0;
#pragma unroll 1
  for (std::int64_t k = first; k < last; ++k) sum = fmaf(widened(a[k * step_a]), widened(b[k * step_b]), sum);
  return sum;
}

/// Infinite parts, numbers that rounding makes infinite, and sums of them beyond the numbers give NaN or Inf where f32
/// does not: what is not finite is computed again from the elements of `first` to `last` of k. Sum 4 i + e is of row
/// kHalf (e / 2) and column 8 i + e % 2. Those of rows and columns that do not exist may be anything.
template <int kHalf, class A, class B, int kSums>
__device__ __forceinline__ void recompute(float (&sums)[kSums], const RecomputedOperand<A>& a,
                                          const RecomputedOperand<B>& b, std::int64_t first, std::int64_t last) {
  std::uint32_t missing[kSums / 32] = {};
#pragma unroll
  for (int i = 0; i < kSums; ++i) missing[i / 32] |= std::uint32_t(!(fabsf(sums[i]) < INFINITY)) << i % 32;
#pragma unroll 1
  for (int word = 0; word < kSums / 32; ++word) {
    std::uint32_t left = 0;
#pragma unroll
    for (int i = 0; i < kSums / 32; ++i)
      if (i == word) left = missing[i];
#pragma unroll 1
    while (left != 0) {
      const int bit = __ffs(int(left)) - 1, number = 32 * word + bit;
      left &= left - 1;
      const std::int64_t row = a.first + number / 2 % 2 * kHalf, column = b.first + number / 4 * 8 + number % 2;
      if (row >= a.extent || column >= b.extent) continue;
      const float sum =
          sum_in_f32(a.data + row * a.distance, a.step, b.data + column * b.distance, b.step, first, last);
#pragma unroll
      for (int s = 0; s < kSums; ++s)
        if (s == number) sums[s] = sum;
    }
  }
}

}  // namespace tessera::cuda
