// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Register tiles of packed pairs of bf16: by dot products, and by multiply-adds for blocks where those would lose
/// subnormal numbers.
#pragma once

#include "dot_product.hpp"
#include "micro_kernel.hpp"

namespace tessera::cpu {

/// What tiles of pairs read and write.
template <class S>
using PairOperands = TileOperands<S, Pair>;

/// As multiply_tile() with adjacent rows, two of k at a time: the second one first. The attribute is this function's
/// alone: x86-64-v4 does not have the instruction, and a file compiled for it could bring it into functions that all
/// files share.
template <class S, int kR, int kV, bool kPartial>
[[gnu::target("avx512bf16")]] void dot_tile(std::int64_t pairs, const PairOperands<S>& t, const Epilogue<S>& epilogue,
                                            int last_lanes) {
  const Row<Pair, kV, kPartial> part(last_lanes);
  Vector<S> sum[kR][kV] = {};
  const Pair *a = t.a, *b = t.b;
  for (std::int64_t l = 0; l < pairs; ++l) {
    Vector<Pair> row[kV];
#pragma GCC unroll 4
    for (int i = 0; i < kV; ++i) row[i] = part.load(b, i);
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) {
      const Vector<Pair> factor = Vector<Pair>{} + a[r];
#pragma GCC unroll 4
      for (int i = 0; i < kV; ++i) sum[r][i] = _mm512_dpbf16_ps(sum[r][i], (__m512bh)factor, (__m512bh)row[i]);
    }
    a += t.a_stride;
    b += t.b_stride;
  }
  store_tile<S, kR, kV, kPartial>(sum, t, epilogue, last_lanes);
}

/// The same by multiply-adds, in the same order.
template <class S, int kR, int kV, bool kPartial>
void multiply_pairs_tile(std::int64_t pairs, const PairOperands<S>& t, const Epilogue<S>& epilogue, int last_lanes) {
  const Row<Pair, kV, kPartial> part(last_lanes);
  Vector<S> sum[kR][kV] = {};
  const Pair *a = t.a, *b = t.b;
  for (std::int64_t l = 0; l < pairs; ++l) {
#pragma GCC unroll 2
    for (int shift = 0; shift <= 16; shift += 16) {  // one half at a time: both would not fit into the registers
      const auto half = [shift](const Vector<Pair>& v) {
        return reinterpret_cast<Vector<S>>(v << shift & 0xffff0000u);
      };
      Vector<S> row[kV];
#pragma GCC unroll 4
      for (int i = 0; i < kV; ++i) row[i] = half(part.load(b, i));
#pragma GCC unroll 16
      for (int r = 0; r < kR; ++r) {
        const Vector<S> factor = half(Vector<Pair>{} + a[r]);
#pragma GCC unroll 4
        for (int i = 0; i < kV; ++i) sum[r][i] += factor * row[i];
      }
    }
    a += t.a_stride;
    b += t.b_stride;
  }
  store_tile<S, kR, kV, kPartial>(sum, t, epilogue, last_lanes);
}

}  // namespace tessera::cpu
