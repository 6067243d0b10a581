// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products too small to be worth packing: blocks of C of kRows rows and one vector's width are
/// summed up in registers.

#include "tile.hpp"

#include <cstring>

namespace tessera::cpu {
namespace {

/// op(A), op(B) and C of one product, op(B) with unit column stride.
template <class T>
struct Small {
  const TileProduct<T>& tile;
  std::int64_t a_row, a_depth;  ///< strides of op(A)
  const T* b;
  std::int64_t b_depth;  ///< stride of op(B) from row to row
};

/// kRows x kWidth elements of C at (i, j). The vectors are as wide as the block, the compiler
/// splits them into what the processor has.
template <class T, int kRows, int kWidth>
inline void block(const Small<T>& s, std::int64_t i, std::int64_t j) {
  using Vector [[gnu::vector_size(kWidth * sizeof(T))]] = T;
  const TileProduct<T>& t = s.tile;
  Vector sum[kRows] = {};
  const T* a = t.a + i * s.a_row;
  for (std::int64_t l = 0; l < t.k; ++l) {
    Vector b;
    std::memcpy(&b, s.b + l * s.b_depth + j, sizeof b);
    for (int r = 0; r < kRows; ++r) sum[r] += a[r * s.a_row + l * s.a_depth] * b;
  }
  for (int r = 0; r < kRows; ++r) {
    T* c = t.c + (i + r) * t.ldc + j;
    Vector old = {};
    if (t.beta != T(0)) std::memcpy(&old, c, sizeof old);
    const Vector result = t.alpha * sum[r] + t.beta * old;
    std::memcpy(c, &result, sizeof result);
  }
}

/// Rows of a block: enough sums in flight to hide the latency of an addition, few enough for the
/// registers, of which a vector of 64 bytes takes one (AVX-512), two (AVX) or four.
#if defined(__AVX512F__)
constexpr int kMostRows = 8;
#elif defined(__AVX__) || defined(__aarch64__)
constexpr int kMostRows = 4;
#else
constexpr int kMostRows = 2;
#endif

/// All rows from i on of one strip in blocks of kRows, the rest in lower ones.
template <class T, int kRows, int kWidth>
inline void rows(const Small<T>& s, std::int64_t i, std::int64_t j) {
  for (; i + kRows <= s.tile.m; i += kRows) block<T, kRows, kWidth>(s, i, j);
  if constexpr (kRows > 1) {
    if (i < s.tile.m) rows<T, kRows / 2, kWidth>(s, i, j);
  }
}

/// All columns from j on in strips of kWidth, the rest in narrower ones.
template <class T, int kWidth>
inline void strips(const Small<T>& s, std::int64_t j) {
  for (; j + kWidth <= s.tile.n; j += kWidth) rows<T, kMostRows, kWidth>(s, 0, j);
  if constexpr (kWidth > 1) {
    if (j < s.tile.n) strips<T, kWidth / 2>(s, j);
  }
}

}  // namespace

template <class T>
void multiply_small(const TileProduct<T>& tile) {
  Small<T> small{tile, tile.trans_a ? 1 : tile.lda, tile.trans_a ? tile.lda : 1, tile.b, tile.ldb};
  T turned[kSmallOperand];
  if (tile.trans_b) {
    for (std::int64_t j = 0; j < tile.n; ++j)
      for (std::int64_t l = 0; l < tile.k; ++l) turned[l * tile.n + j] = tile.b[j * tile.ldb + l];
    small.b = turned;
    small.b_depth = tile.n;
  }
  strips<T, 64 / int(sizeof(T))>(small, 0);
}

template void multiply_small(const TileProduct<float>& tile);
template void multiply_small(const TileProduct<double>& tile);

}  // namespace tessera::cpu
