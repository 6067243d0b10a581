// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The arguments of a product, the checks of netlib's reference, and what xerbla is told.
#pragma once

#include "product.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::blas {

/// How a matrix is taken, as a caller wrote it.
enum class Op { as_is, transposed, conjugated, unknown };

/// By Fortran's letter.
inline Op op_of(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return Op::as_is;
    case 'T':
    case 't':
      return Op::transposed;
    case 'C':
    case 'c':
      return Op::conjugated;
    default:
      return Op::unknown;
  }
}

/// By the number that C's interface gives: CblasNoTrans, CblasTrans, CblasConjTrans.
inline Op op_of(int number) {
  constexpr Op known[] = {Op::as_is, Op::transposed, Op::conjugated};
  return number >= 111 && number <= 113 ? known[number - 111] : Op::unknown;
}

/// The triangle of C, by Fortran's letter or by the number that C's interface gives: CblasUpper, CblasLower.
inline Part part_of(char letter) {
  return letter == 'L' || letter == 'l' ? Part::lower : letter == 'U' || letter == 'u' ? Part::upper : Part::all;
}
inline Part part_of(int number) { return number == 122 ? Part::lower : number == 121 ? Part::upper : Part::all; }

/// An argument that may be wrong.
enum class Argument { none, layout, trans_a, trans_b, m, n, k, lda, ldb, ldc, count, group_size, uplo };

/// Where in the list of a Fortran routine its arguments stand; C's has the layout before them.
struct Positions {
  int trans_a = 1, trans_b = 2, m = 3, n = 4, k = 5, lda = 8, ldb = 10, ldc = 13, count = 14, group_size = 15;
  int uplo = 0;

  constexpr int of(Argument argument) const {
    const int positions[] = {0, 0, trans_a, trans_b, m, n, k, lda, ldb, ldc, count, group_size, uplo};
    return positions[int(argument)];
  }
};
inline constexpr Positions kGrouped{};
inline constexpr Positions kStrided{1, 2, 3, 4, 5, 8, 11, 15, 17, 0};
/// Of a product of one matrix, whose transpose is trans_a.
inline constexpr Positions kSymmetric{2, 0, 0, 3, 4, 7, 0, 10, 0, 0, 1};

/// A routine as xerbla is told of it.
struct Routine {
  const char* name;
  Positions positions;
  bool c_interface;
};

/// Tells the program's own xerbla_ or cblas_xerbla, else that of the BLAS behind this library, else stderr. Int is the
/// integer of the entry point.
template <class Int>
void report(const Routine& routine, Argument bad);

extern template void report<std::int32_t>(const Routine&, Argument);
extern template void report<std::int64_t>(const Routine&, Argument);

/// The first bad argument of a column-major product in netlib's order.
template <class T>
Argument first_bad(Op a, Op b, const Product<T>& p) {
  constexpr std::int64_t kOne = 1;
  if (a == Op::unknown) return Argument::trans_a;
  if (b == Op::unknown) return Argument::trans_b;
  if (p.m < 0) return Argument::m;
  if (p.n < 0) return Argument::n;
  if (p.k < 0) return Argument::k;
  if (p.lda < std::max(kOne, a == Op::as_is ? p.m : p.k)) return Argument::lda;
  if (p.ldb < std::max(kOne, b == Op::as_is ? p.k : p.n)) return Argument::ldb;
  if (p.ldc < std::max(kOne, p.m)) return Argument::ldc;
  return Argument::none;
}

/// Which argument of a row-major product one of the product of the transposes is.
constexpr Argument swapped(Argument argument) {
  switch (argument) {
    case Argument::trans_a:
      return Argument::trans_b;
    case Argument::trans_b:
      return Argument::trans_a;
    case Argument::m:
      return Argument::n;
    case Argument::n:
      return Argument::m;
    case Argument::lda:
      return Argument::ldb;
    case Argument::ldb:
      return Argument::lda;
    default:
      return argument;
  }
}

/// Checks a product and makes it column-major.
template <class T>
Argument prepare(bool row_major, Op a, Op b, Product<T>& p) {
  p.trans_a = a != Op::as_is, p.trans_b = b != Op::as_is;
  p.conjugate_a = kComplex<T> && a == Op::conjugated, p.conjugate_b = kComplex<T> && b == Op::conjugated;
  if (!row_major) return first_bad(a, b, p);
  if (a == Op::unknown) return Argument::trans_a;  // netlib looks at both before it changes sides
  p.swap_sides();
  return swapped(first_bad(b, a, p));
}

/// The same for a triangle of a matrix by its transpose, or by its conjugate transpose, of which `p` has n, k, alpha,
/// A, beta and C. Rows are columns of the transpose; C is symmetric, or its transpose its conjugate.
template <class T>
Argument prepare_symmetric(bool row_major, Part part, Op op, bool hermitian, Product<T>& p) {
  if (part == Part::all) return Argument::uplo;
  const Op refused = hermitian ? Op::transposed : kComplex<T> ? Op::conjugated : Op::unknown;
  if (op == Op::unknown || op == refused) return Argument::trans_a;
  p.trans_a = (op != Op::as_is) != row_major, p.trans_b = !p.trans_a;
  p.conjugate_a = hermitian && p.trans_a, p.conjugate_b = hermitian && p.trans_b;
  p.part = (part == Part::lower) != row_major ? Part::lower : Part::upper;
  p.m = p.n, p.b = p.a, p.ldb = p.lda;
  if (p.n < 0) return Argument::n;
  if (p.k < 0) return Argument::k;
  if (p.lda < std::max<std::int64_t>(1, p.trans_a ? p.k : p.n)) return Argument::lda;
  return p.ldc < std::max<std::int64_t>(1, p.n) ? Argument::ldc : Argument::none;
}

}  // namespace tessera::blas
