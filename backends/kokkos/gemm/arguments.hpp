// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a GEMM kernel gets, and BLAS's rules for the final update of C.
#pragma once

#include "../context.hpp"

namespace tessera::kokkos {

/// C <- alpha sum + beta C: beta = 0 does not read C; without a product (k or alpha is 0) alpha takes no part either.
template <class T>
struct Epilogue {
  T alpha, beta;
  bool product;

  KOKKOS_INLINE_FUNCTION void write(T* c, T sum) const {
    const T value = product ? alpha * sum : T(0);
    *c = beta != T(0) ? beta * *c + value : value;
  }
};

/// A trivially copyable form of the problem with its operands.
template <class T>
struct GemmArguments {
  std::int64_t m, n, k;        ///< k is 0 where alpha is: A and B are not read
  std::int64_t a_row, a_k;     ///< distances in op(A), of rows and of neighbouring k
  std::int64_t b_k, b_column;  ///< distances in op(B)
  std::int64_t ldc;
  std::int64_t batch, stride_a, stride_b, stride_c;
  const T* a;
  const T* b;
  T* c;
  Epilogue<T> epilogue;
};

/// Throws where D is another matrix than C, which no algorithm here can do yet.
inline void require_in_place(const plugin::Execution& e) {
  if (e.operand<const void>(2) != e.operand<const void>(3))
    throw plugin::Error(TESSERA_UNSUPPORTED, "D beside C is not supported here: pass C alone, or choose backend cpu");
}

template <class T>
GemmArguments<T> arguments_of(const plugin::GemmProblem& p, const plugin::Execution& e) {
  require_in_place(e);
  const T alpha = e.scalar<T>(0);
  const std::int64_t k = alpha == T(0) ? 0 : p.k;
  return {.m = p.m,
          .n = p.n,
          .k = k,
          .a_row = p.trans_a ? 1 : p.lda,
          .a_k = p.trans_a ? p.lda : 1,
          .b_k = p.trans_b ? 1 : p.ldb,
          .b_column = p.trans_b ? p.ldb : 1,
          .ldc = p.ldc,
          .batch = p.batch,
          .stride_a = p.stride_a,
          .stride_b = p.stride_b,
          .stride_c = p.stride_c,
          .a = e.operand<const T>(0),
          .b = e.operand<const T>(1),
          .c = e.operand<T>(2),
          .epilogue = {alpha, e.scalar<T>(1), k != 0}};
}

}  // namespace tessera::kokkos
