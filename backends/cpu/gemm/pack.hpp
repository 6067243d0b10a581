// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of blocks of op(A) and op(B) in the order in which the micro-kernel reads them. What a last panel lacks
/// stays as it is: the kernels for the edge do not use it.
#pragma once

#include "../convert.hpp"
#include "micro_kernel.hpp"

#include <algorithm>
#include <utility>

namespace tessera::cpu {

/// Row i of kN x kN elements becomes column i: log2(kN) times the perfect shuffle of all of them.
template <class T, int kN, std::size_t... kI>
inline void transpose(Vector<T, kN> (&rows)[kN], std::index_sequence<kI...>) {
#pragma GCC unroll 4
  for (int step = 1; step < kN; step *= 2) {
    Vector<T, kN> next[kN];
#pragma GCC unroll 8
    for (int i = 0; i < kN / 2; ++i) {
      const Vector<T, kN> a = rows[i], b = rows[i + kN / 2];
      next[2 * i] = __builtin_shufflevector(a, b, (int(kI / 2) + (kI % 2 ? kN : 0))...);
      next[2 * i + 1] = __builtin_shufflevector(a, b, (int(kN / 2 + kI / 2) + (kI % 2 ? kN : 0))...);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) rows[i] = next[i];
  }
}

/// target[l * step + r] = source[r * ld + l] for r < rows (at most kN) and l < k. Where rows are fewer than kN, what
/// follows them in the target is overwritten. Elements of 16 bits become float.
template <class T, int kN>
inline void pack_transposed(const T* source, std::int64_t ld, int rows, std::int64_t k, Scalar<T>* target,
                            std::int64_t step) {
  using S = Scalar<T>;
  std::int64_t l = 0;
  for (; l + kN <= k; l += kN) {
    Vector<S, kN> block[kN] = {};
#pragma GCC unroll 16
    for (int r = 0; r < kN; ++r)
      if (r < rows) load_wide<T, kN>(source + r * ld + l, block[r]);
    transpose<S, kN>(block, std::make_index_sequence<kN>{});
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) std::memcpy(target + (l + i) * step, &block[i], sizeof block[i]);
  }
  for (; l < k; ++l)
    for (int r = 0; r < rows; ++r) target[l * step + r] = S(source[r * ld + l]);
}

/// Neighbours of one row.
template <class T>
[[gnu::always_inline]] inline void copy_row(const T* from, std::int64_t count, Scalar<T>* to) {
  if constexpr (sizeof(T) != 2)
    std::memcpy(to, from, std::size_t(count) * sizeof(T));
  else
    copy_wide(from, count, to);
}

/// Neighbouring columns of all rows to panels of kN columns, each with its rows one after the other. Eight panels at a
/// time: whole cache lines of the source, and few enough targets for the ways of a first-level cache. Elements of 16
/// bits become float.
template <class T, int kN>
inline void pack_rows(const T* source, std::int64_t ld, std::int64_t columns, std::int64_t k, Scalar<T>* target) {
  for (std::int64_t first = 0; first < columns; first += 8 * kN)
    for (std::int64_t l = 0; l < k; ++l) {
      const T* from = source + l * ld + first;
      Scalar<T>* to = target + first * k + l * kN;
      std::int64_t left = std::min<std::int64_t>(8 * kN, columns - first);
      for (; left >= kN; left -= kN, from += kN, to += kN * k) copy_row(from, kN, to);
      copy_row(from, left, to);
    }
}

}  // namespace tessera::cpu
