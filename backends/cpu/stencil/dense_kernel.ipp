// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// apply_dense_block() for one type: included by a file per type.

#include "dense_kernel.hpp"

#include "../caches.hpp"
#include "../vector.hpp"

#include <algorithm>

namespace tessera::cpu {
namespace {

template <class T, int kVectors>
using DenseSums = Vector<T>[kDenseRows][kVectors];

/// Adds what a row of `width` + kVectors registers of points gives to rows [kFirst, kEnd) of results. `factor`: of the
/// first row of results; those of each further one lie a row of taps before. What is read next, from `ahead` on, comes
/// to the first-level cache meanwhile: rows of many strides share few places there, and hardware fetches in vain. A
/// column's rows are there.
template <int kFirst, int kEnd, bool kColumn, class T, int kVectors>
[[gnu::always_inline]] inline void add_input_row(DenseSums<T, kVectors>& sum, const T* in, const T* factor,
                                                 std::int64_t width, const T* ahead) {
  constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(T));
  if constexpr (kColumn)
    width = 1;
  else
    for (std::int64_t i = 0; i < kVectors * kLanes<T> + width; i += kLine) __builtin_prefetch(ahead + i);
#pragma GCC unroll 1
  for (std::int64_t tap = 0; tap < width; ++tap) {
    Vector<T> value[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Vector<T> points = load(in + tap + v * kLanes<T>);
      keep_in_register(points);
      value[v] = points;
    }
#pragma GCC unroll 16
    for (int r = kFirst; r < kEnd; ++r) {
      const T one = factor[tap - r * width];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] += one * value[v];
    }
  }
}

/// A plane of taps: input rows of which only the upper, all, and only the lower rows of results have taps.
template <bool kColumn, class T, int kVectors>
[[gnu::always_inline]] inline void add_plane(DenseSums<T, kVectors>& sum, const DenseBlock<T>& b, const T* in,
                                             const T* factor, const T* after) {
  static_assert(kDenseRows == 4);
  const auto next = [&] { in += b.in_row, factor += b.width; };
  add_input_row<0, 1, kColumn>(sum, in, factor, b.width, in + b.in_row), next();
  add_input_row<0, 2, kColumn>(sum, in, factor, b.width, in + b.in_row), next();
  add_input_row<0, 3, kColumn>(sum, in, factor, b.width, in + b.in_row), next();
#pragma GCC unroll 1
  for (std::int64_t row = kDenseRows - 1; row < b.height; ++row)
    add_input_row<0, kDenseRows, kColumn>(sum, in, factor, b.width, in + b.in_row), next();
  add_input_row<1, 4, kColumn>(sum, in, factor, b.width, in + b.in_row), next();
  add_input_row<2, 4, kColumn>(sum, in, factor, b.width, in + b.in_row), next();
  add_input_row<3, 4, kColumn>(sum, in, factor, b.width, after);
}

template <class T, int kVectors, bool kColumn = false>
void apply_dense(const DenseBlock<T>& b) {
  constexpr std::int64_t kPoints = kVectors * kLanes<T>;
  // The last register block computes some points twice, which is harmless here.
  for (std::int64_t done = 0; done < b.n; done += kPoints) {
    const std::int64_t i = std::min(done, b.n - kPoints);
    if (b.next_rows != 0)
#pragma GCC unroll 16
      for (int r = 0; r < kDenseRows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          __builtin_prefetch(b.in + i + b.next_rows + r * b.in_row + v * kLanes<T>, 0, 2);
          __builtin_prefetch(b.out + i + (kDenseRows + r) * b.out_row + v * kLanes<T>, 1, 2);
        }
    Vector<T> none = T(-0.0) - Vector<T>{};
    keep_in_register(none);  // or compilers that know the value choose which product to contract
    DenseSums<T, kVectors> sum;
#pragma GCC unroll 16
    for (int r = 0; r < kDenseRows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = none;
    for (std::int64_t plane = 0; plane < b.planes; ++plane) {
      const T* const in = b.in + i + plane * b.in_plane;
      const T* const after = plane + 1 < b.planes ? in + b.in_plane : b.in + i + kPoints;
      add_plane<kColumn, T, kVectors>(sum, b, in, b.coefficient + plane * b.height * b.width, after);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kDenseRows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) store(b.out + r * b.out_row + i + v * kLanes<T>, sum[r][v]);
  }
}

}  // namespace

template <class T>
void apply_dense_block(const DenseBlock<T>& block) {
  if (block.cached_column && block.n >= kDensePoints<T>)
    apply_dense<T, kDenseVectors, true>(block);
  else if (block.n >= kDensePoints<T>)
    apply_dense<T, kDenseVectors>(block);
  else
    apply_dense<T, 1>(block);
}

}  // namespace tessera::cpu
