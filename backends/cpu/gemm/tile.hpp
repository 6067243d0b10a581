// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One tile of a product, and the single-threaded product that the eigen algorithm is made of.
#pragma once

#include "finish.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// D <- alpha * op(A) * op(B) + beta * C for one tile of row-major matrices, A and B of type T. Pointers are at the
/// tile's first row of op(A), first column of op(B) and first elements. alpha is not 0 and k at least 1. C is not read
/// where beta is 0; D may be C.
template <class T>
struct TileProduct {
  using S = Scalar<T>;
  bool trans_a, trans_b;
  std::int64_t m, n, k;
  S alpha;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  S beta;
  const S* c;
  std::int64_t ldc;
  S* d;
  std::int64_t ldd;
  Finish<S> finish = {};  ///< what multiply_panels does to the sums at last; multiply_blocked leaves it to its caller
  const Target<S>* target = nullptr;  ///< where those go then, finished there; d has room for incomplete ones
  bool chained = false;  ///< the sums of a block of k go on where those of the last one end, before alpha; beta is 0
};

/// Any size, by Eigen: packs blocks of A and B (and allocates room for them).
template <class T>
void multiply_blocked(const TileProduct<T>& tile);

}  // namespace tessera::cpu
