// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One tile of a product, and the single-threaded product that the eigen algorithm is made of.
#pragma once

#include "finish.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// op(B) of a product that was packed before, in blocks of k, each in panels of columns.
struct Panels {
  const void* data = nullptr;                     ///< of the matrix; null where B is one
  std::int64_t columns = 0;                       ///< in whole panels
  std::int64_t first = 0;                         ///< column of the product's first
  const std::int32_t* least_exponents = nullptr;  ///< of pairs: of each block's stretches of columns
  std::int64_t stretch = 0, stretches = 0;        ///< columns of one; of a block
};

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
  Panels panels = {};    ///< in the place of b
};

/// Any size, by Eigen: packs blocks of A and B (and allocates room for them).
template <class T>
void multiply_blocked(const TileProduct<T>& tile);

}  // namespace tessera::cpu
