// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One tile of a product, and the single-threaded product that the eigen algorithm is made of.
#pragma once

#include <cstdint>

namespace tessera::cpu {

/// C <- alpha * op(A) * op(B) + beta * C for one tile of a row-major C. Pointers are at the tile's
/// first row of op(A), first column of op(B) and first element. alpha is not 0 and k at least 1.
template <class T>
struct TileProduct {
  bool trans_a, trans_b;
  std::int64_t m, n, k;
  T alpha;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T beta;
  T* c;
  std::int64_t ldc;
};

/// C <- beta * C; with beta = 0, zeros whatever was there.
template <class T>
void scale_tile(std::int64_t m, std::int64_t n, T beta, T* c, std::int64_t ldc) {
  if (beta == T(1)) return;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == T(0) ? T(0) : beta * c[i * ldc + j];
}

/// Any size, by Eigen: packs blocks of A and B (and allocates room for them).
template <class T>
void multiply_blocked(const TileProduct<T>& tile);

}  // namespace tessera::cpu
