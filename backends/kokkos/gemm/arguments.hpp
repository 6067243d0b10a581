// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a GEMM kernel gets, and how an element of D is made of its sum.
#pragma once

#include "../context.hpp"
#include "../convert.hpp"

#include <tessera/plugin/epilogue.hpp>

namespace tessera::kokkos {

/// A trivially copyable form of the problem with its inputs.
template <class T>
struct GemmArguments {
  std::int64_t m, n, k;        ///< k is 0 where alpha is: A and B are not read
  std::int64_t a_row, a_k;     ///< distances in op(A), of rows and of neighbouring k
  std::int64_t b_k, b_column;  ///< distances in op(B)
  std::int64_t batch, stride_a, stride_b;
  const T* a;
  const T* b;
};

template <class T>
GemmArguments<T> arguments_of(const plugin::GemmProblem& p, const plugin::Execution& e) {
  return {.m = p.m,
          .n = p.n,
          .k = e.scalar<Scalar<T>>(0) == Scalar<T>(0) ? 0 : p.k,
          .a_row = p.trans_a ? 1 : p.lda,
          .a_k = p.trans_a ? p.lda : 1,
          .b_k = p.trans_b ? 1 : p.ldb,
          .b_column = p.trans_b ? p.ldb : 1,
          .batch = p.batch,
          .stride_a = p.stride_a,
          .stride_b = p.stride_b,
          .a = e.operand<const T>(0),
          .b = e.operand<const T>(1)};
}

/// C and D, of type S or of 16 bits. Where C is not read, D stands for it: C may be null then.
template <class S>
struct Results {
  S alpha, beta;
  const void* c;
  void* d;
  std::int64_t ldc, ldd, stride_c, stride_d;
  plugin::Epilogue<S> epilogue;
  bool has_epilogue;

  Results(const plugin::GemmProblem& p, const plugin::Execution& e)
      : alpha(e.scalar<S>(0)),
        beta(e.scalar<S>(1)),
        c(e.operand<const void>(beta != S(0) ? 2 : 3)),
        d(e.operand<void>(3)),
        ldc(beta != S(0) ? p.ldc : p.ldd),
        ldd(p.ldd),
        stride_c(beta != S(0) ? p.stride_c : p.stride_d),
        stride_d(p.stride_d),
        epilogue(p, e),
        has_epilogue(p.has_epilogue()) {}
};

/// Bias and activation. Not inlined: a thread has up to 64 elements, and an activation a hundred instructions.
template <class S>
[[gnu::noinline]] KOKKOS_FUNCTION S finished(plugin::Epilogue<S> epilogue, std::int64_t item, std::int64_t i,
                                             std::int64_t j, S value) {
  return epilogue(item, i, j, value);
}

/// Writes elements of D by BLAS's rules: beta = 0 does not read C; without a product (k or alpha is 0) alpha takes no
/// part either. kGeneral: with bias and activation, where there are any, and for T of 16 bits D of either type; else C
/// and D are of type T.
template <class T, bool kGeneral>
class Writer {
 public:
  using S = Scalar<T>;
  static_assert(kGeneral || sizeof(T) != 2);

  Writer(const plugin::GemmProblem& p, const plugin::Execution& e)
      : r_(p, e), product_(p.k != 0 && r_.alpha != S(0)), narrow_(plugin::size_of(p.dtype_d) == 2) {}

  /// Row i of matrix `item`, and where it begins in C and D.
  struct Row {
    std::int64_t item, i, c, d;
  };
  KOKKOS_INLINE_FUNCTION Row row(std::int64_t item, std::int64_t i) const {
    return {item, i, item * r_.stride_c + i * r_.ldc, item * r_.stride_d + i * r_.ldd};
  }

  KOKKOS_INLINE_FUNCTION void write(const Row& row, std::int64_t j, S sum) const {
    S value = product_ ? r_.alpha * sum : S(0);
    if (r_.beta != S(0)) value = r_.beta * read(row.c + j) + value;
    if constexpr (kGeneral)
      if (r_.has_epilogue) value = finished(r_.epilogue, row.item, row.i, j, value);
    store(row.d + j, value);
  }

 private:
  KOKKOS_INLINE_FUNCTION S read(std::int64_t place) const {
    if constexpr (sizeof(T) == 2)
      if (narrow_) return widened(static_cast<const T*>(r_.c)[place]);
    return static_cast<const S*>(r_.c)[place];
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t place, S value) const {
    if constexpr (sizeof(T) == 2)
      if (narrow_) {
        static_cast<T*>(r_.d)[place] = rounded<T>(value);
        return;
      }
    static_cast<S*>(r_.d)[place] = value;
  }

  Results<S> r_;
  bool product_, narrow_;
};

/// Calls body(std::bool_constant<kGeneral>{}) for the Writer that a problem of type T needs.
template <class T, class Body>
decltype(auto) with_writer(const plugin::GemmProblem& p, Body&& body) {
  if constexpr (sizeof(T) != 2)
    if (!p.has_epilogue()) return body(std::false_type{});
  return body(std::true_type{});
}

}  // namespace tessera::kokkos
