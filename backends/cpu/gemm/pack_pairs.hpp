// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What packing makes of bf16 for dot products: pairs along k, and the least exponent.
#pragma once

#include "dot_product.hpp"
#include "pack.hpp"

namespace tessera::cpu {

/// A matrix of bf16, with k elements along k. A last one without a second gets a zero.
class Pairs {
 public:
  using Element = bfloat16;
  using Packed = Pair;

  Pairs(const bfloat16* data, std::int64_t ld, std::int64_t k) : data_(data), ld_(ld), k_(k) {}

  /// Packed elements along k, and those of them that have both elements.
  std::int64_t count() const { return (k_ + 1) / 2; }
  std::int64_t whole() const { return k_ / 2; }

  template <int kN>
  [[gnu::always_inline]] void load(std::int64_t r, std::int64_t l, Vector<Pair, kN>& pairs) {
    std::memcpy(&pairs, data_ + r * ld_ + 2 * l, sizeof pairs);
    note<kN>(pairs);
  }
  [[gnu::always_inline]] Pair at(std::int64_t r, std::int64_t l) {
    const bfloat16* from = data_ + r * ld_ + 2 * l;
    return pair(from, 2 * l + 1 < k_ ? from + 1 : nullptr);
  }
  /// Pairs of two rows; neighbours are of neighbouring columns.
  [[gnu::always_inline]] void copy_row(std::int64_t l, std::int64_t column, std::int64_t columns, Pair* to) {
    const bfloat16 *low = data_ + 2 * l * ld_ + column, *high = 2 * l + 1 < k_ ? low + ld_ : nullptr;
    std::int64_t j = 0;
    for (; j + kLanes<Pair> <= columns; j += kLanes<Pair>) copy_pairs<kLanes<Pair>>(low, high, j, to);
    for (; j + kHalf <= columns; j += kHalf) copy_pairs<kHalf>(low, high, j, to);
    for (; j < columns; ++j) to[j] = pair(low + j, high != nullptr ? high + j : nullptr);
  }

  /// The least biased exponent of all elements so far that are not zero; without one, more than any element has.
  int least_exponent() const {
    std::uint32_t least = least_;
    for (int lane = 0; lane < kWords; ++lane) least = std::min<std::uint32_t>(least, lanes_[lane]);
    for (int lane = 0; lane < kWords / 2; ++lane) least = std::min<std::uint32_t>(least, half_[lane]);
    return biased_exponent(least + 1);
  }

 private:
  static constexpr int kWords = kLanes<std::uint16_t>, kHalf = kLanes<Pair> / 2;

  template <int kN>
  static Vector<Pair, kN> wide(const bfloat16* p) {
    Vector<std::uint16_t, kN> bits;
    std::memcpy(&bits, p, sizeof bits);
    return __builtin_convertvector(bits, Vector<Pair, kN>);
  }
  template <int kN>
  [[gnu::always_inline]] void copy_pairs(const bfloat16* low, const bfloat16* high, std::int64_t j, Pair* to) {
    Vector<Pair, kN> pairs = wide<kN>(low + j);
    if (high != nullptr) pairs |= wide<kN>(high + j) << 16;
    note<kN>(pairs);
    std::memcpy(to + j, &pairs, sizeof pairs);
  }

  Pair pair(const bfloat16* low, const bfloat16* high) {
    const Pair pair = low->bits | (high != nullptr ? Pair(high->bits) << 16 : 0);
    least_ = std::min({least_, magnitude(pair), magnitude(pair >> 16)});
    return pair;
  }

  // Magnitudes less 1, modulo 2^16: zero is the largest.
  static std::uint32_t magnitude(std::uint32_t bits) { return ((bits & 0x7fff) - 1) & 0xffff; }
  template <class V>
  [[gnu::always_inline]] static V smaller(const V& a, const V& b) {
    return a < b ? a : b;
  }
  template <int kN>
  [[gnu::always_inline]] void note(const Vector<Pair, kN>& pairs) {
    Vector<std::uint16_t, 2 * kN> words;
    std::memcpy(&words, &pairs, sizeof words);
    words = (words & 0x7fff) - 1;
    if constexpr (kN == kLanes<Pair>)
      lanes_ = smaller(words, lanes_);
    else
      half_ = smaller(words, half_);
  }

  const bfloat16* data_;
  std::int64_t ld_, k_;
  std::uint32_t least_ = 0xffff;
  Vector<std::uint16_t> lanes_ = Vector<std::uint16_t>{} - 1;
  Vector<std::uint16_t, kWords / 2> half_ = Vector<std::uint16_t, kWords / 2>{} - 1;
};

}  // namespace tessera::cpu
