// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner loops of the algorithms that go row by row.
#pragma once

#include "../vector.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// The terms of a row: coefficient[t] * in[offset[t]], in elements from a common base. Elements of 16 bits are summed
/// in f32 and rounded once.
template <class T>
struct RowTaps {
  const std::int64_t* offset;
  const std::int64_t* along;  ///< the steps along axis 2 that are in it
  const Scalar<T>* coefficient;
  std::int64_t count;
};

/// out[i * out_stride] = init + sum over taps of coefficient[t] * in[offset[t] + i * in_stride] for
/// i in [0, n), added in the order of the taps. Fast where both strides are 1.
template <class T>
void apply_row(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
               std::int64_t out_stride, std::int64_t n);

/// The same bits for unit strides and the points of one cache line, wherever that starts.
template <class T>
void apply_line(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out);

/// How far ahead of use apply_row_nontemporal() should be told to fetch. The processor's own prefetch stops at
/// 4 KiB pages; 2 to 4 KiB measured alike, 1 KiB and less slower.
inline constexpr std::int64_t kAheadBytes = 4096;

/// The same bits for unit strides, by non-temporal stores: `out` is the start of a cache line, and n points fill whole
/// lines. n points from `newest` on are prefetched meanwhile. nontemporal_fence() must follow.
template <class T>
void apply_row_nontemporal(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out, std::int64_t n,
                           const T* newest);

/// sum + factor * value by one multiply-add. Compilers that make vectors of such a loop multiply several taps at once
/// and add the rounded products: other bits than those of the loops along rows.
template <class S>
[[gnu::always_inline]] inline void add_product(S& sum, S factor, S value) {
  sum += factor * value;
  keep_in_register(sum);
}

/// The same point by point, for any strides.
template <class T>
void apply_strided(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
                   std::int64_t out_stride, std::int64_t n) {
  using S = Scalar<T>;
  for (std::int64_t i = 0; i < n; ++i) {
    S sum = init;
    for (std::int64_t t = 0; t < taps.count; ++t)
      add_product(sum, taps.coefficient[t], S(in[taps.offset[t] + i * in_stride]));
    out[i * out_stride] = T(sum);
  }
}

/// Places for the first and the last line of a row that is longer, in place of those in the output; null: none.
template <class T>
struct LinesApart {
  T *first = nullptr, *last = nullptr;
};

/// Elements of 16 bits. They have loops of their own.
template <class T>
concept Narrow = sizeof(T) == 2;

template <Narrow T>
void apply_row(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
               std::int64_t out_stride, std::int64_t n);
template <Narrow T>
void apply_line(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out);
template <Narrow T>
void apply_row_nontemporal(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out, std::int64_t n, const T* newest,
                           const LinesApart<T>& apart);

}  // namespace tessera::cpu
