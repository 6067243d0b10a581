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

/// Within each kParts parts of kWidth neighbours: the even parts of a, then those of b; or the odd ones.
template <int kParts, int kWidth, int kOdd, class T, int kN, std::size_t... kI>
[[gnu::always_inline]] inline void unzip(const Vector<T, kN>& a, const Vector<T, kN>& b, Vector<T, kN>& to,
                                         std::index_sequence<kI...>) {
  constexpr auto kFrom = [](int i) {
    const int part = i / kWidth % kParts, block = i / (kWidth * kParts) * kWidth * kParts;
    const int of_b = 2 * part >= kParts ? kN - kParts * kWidth : 0;
    return block + of_b + (2 * part + kOdd) * kWidth + i % kWidth;
  };
  to = __builtin_shufflevector(a, b, kFrom(int(kI))...);
}

/// Part j of row i becomes part i of row j, within each kParts parts of kWidth neighbours: log2(kParts) times.
template <int kWidth, int kParts, class T, int kN>
[[gnu::always_inline]] inline void transpose_parts(Vector<T, kN> (&rows)[kParts]) {
  constexpr auto kAll = std::make_index_sequence<kN>{};
#pragma GCC unroll 4
  for (int step = 1; step < kParts; step *= 2) {
    Vector<T, kN> next[kParts];
#pragma GCC unroll 8
    for (int i = 0; i < kParts / 2; ++i) {
      unzip<kParts, kWidth, 0, T, kN>(rows[2 * i], rows[2 * i + 1], next[i], kAll);
      unzip<kParts, kWidth, 1, T, kN>(rows[2 * i], rows[2 * i + 1], next[i + kParts / 2], kAll);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kParts; ++i) rows[i] = next[i];
  }
}

/// Row i of kN x kN elements becomes column i: in lanes of 16 bytes, which is cheapest, then whole lanes.
template <class T, int kN>
[[gnu::always_inline]] inline void transpose(Vector<T, kN> (&rows)[kN]) {
  constexpr int kLane = std::min(kN, int(16 / sizeof(T))), kLanesOf = kN / kLane;
  Vector<T, kN> lanes[kLane][kLanesOf];
#pragma GCC unroll 16
  for (int group = 0; group < kLanesOf; ++group) {
    Vector<T, kN> part[kLane];
#pragma GCC unroll 4
    for (int i = 0; i < kLane; ++i) part[i] = rows[group * kLane + i];
    transpose_parts<1, kLane, T, kN>(part);
#pragma GCC unroll 4
    for (int i = 0; i < kLane; ++i) lanes[i][group] = part[i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < kLane; ++i) {
    transpose_parts<kLane, kLanesOf, T, kN>(lanes[i]);
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanesOf; ++lane) rows[lane * kLane + i] = lanes[i][lane];
  }
}

/// A matrix that is packed element by element, with k of them along k. Those of 16 bits become float.
template <class T>
class Singles {
 public:
  using Element = T;
  using Packed = Scalar<T>;

  Singles(const T* data, std::int64_t ld, std::int64_t k) : data_(data), ld_(ld), k_(k) {}

  /// Packed elements along k, and how many of them load() may take.
  std::int64_t count() const { return k_; }
  std::int64_t whole() const { return k_; }

  /// Of row r those from l on, which are neighbours.
  template <int kN>
  [[gnu::always_inline]] void load(std::int64_t r, std::int64_t l, Vector<Packed, kN>& v) const {
    load_wide<T, kN>(data_ + r * ld_ + l, v);
  }
  Packed at(std::int64_t r, std::int64_t l) const { return Packed(data_[r * ld_ + l]); }

  /// Of row l so many neighbouring columns.
  [[gnu::always_inline]] void copy_row(std::int64_t l, std::int64_t column, std::int64_t columns, Packed* to) const {
    const T* from = data_ + l * ld_ + column;
    if constexpr (sizeof(T) != 2)
      std::memcpy(to, from, std::size_t(columns) * sizeof(T));
    else
      copy_wide(from, columns, to);
  }

  int least_exponent() const { return 0; }  ///< nobody asks

 private:
  const T* data_;
  std::int64_t ld_, k_;
};

/// Packed element l of row first + r to target[l * step + r], for r < rows (at most kN). Where rows are fewer than kN,
/// what follows them in the target is overwritten.
template <int kN, class Source>
[[gnu::always_inline]] inline void pack_transposed(Source& source, std::int64_t first, int rows,
                                                   typename Source::Packed* target, std::int64_t step) {
  using P = typename Source::Packed;
  const std::int64_t whole = source.whole(), count = source.count();
  std::int64_t l = 0;
  for (; l + kN <= whole; l += kN) {
    Vector<P, kN> block[kN] = {};
#pragma GCC unroll 16
    for (int r = 0; r < kN; ++r)
      if (r < rows) source.template load<kN>(first + r, l, block[r]);
    transpose<P, kN>(block);
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) std::memcpy(target + (l + i) * step, &block[i], sizeof block[i]);
  }
  for (; l < count; ++l)
    for (int r = 0; r < rows; ++r) target[l * step + r] = source.at(first + r, l);
}

/// Neighbouring columns of all rows to panels of kN columns, each with its rows one after the other. Eight panels at a
/// time: whole cache lines of the source, and few enough targets for the ways of a first-level cache.
template <int kN, class Source>
[[gnu::always_inline]] inline void pack_rows(Source& source, std::int64_t columns, typename Source::Packed* target) {
  const std::int64_t count = source.count();
  for (std::int64_t first = 0; first < columns; first += 8 * kN)
    for (std::int64_t l = 0; l < count; ++l) {
      typename Source::Packed* to = target + first * count + l * kN;
      const std::int64_t end = std::min<std::int64_t>(first + 8 * kN, columns);
      std::int64_t column = first;
      for (; column + kN <= end; column += kN, to += kN * count) source.copy_row(l, column, kN, to);
      source.copy_row(l, column, end - column, to);
    }
}

}  // namespace tessera::cpu
