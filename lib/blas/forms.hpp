// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the entry points of all names have in common.
#pragma once

#include "arguments.hpp"
#include "product.hpp"

#include <cstdint>

namespace tessera::blas {

/// CblasRowMajor and CblasColMajor.
inline constexpr int kRowMajor = 101, kColumnMajor = 102;

/// One product, or a batch of matrices at equal distances.
template <class Int, class T>
void product(const Routine& routine, int layout, Op a, Op b, Product<T> p) {
  Argument bad = Argument::none;
  if (layout != kRowMajor && layout != kColumnMajor)
    bad = Argument::layout;
  else
    bad = prepare(layout == kRowMajor, a, b, p);
  if (bad == Argument::none && p.batch < 0) bad = Argument::count;
  if (bad != Argument::none) return report<Int>(routine, bad);
  run(p);
}

/// A triangle of C from one matrix and its transpose, or its conjugate transpose: then the diagonal of C is real.
template <class Int, class T>
void symmetric(const Routine& routine, int layout, Part part, Op op, Product<T> p, bool hermitian = false) {
  const bool known = layout == kRowMajor || layout == kColumnMajor;
  const Argument bad = known ? prepare_symmetric(layout == kRowMajor, part, op, hermitian, p) : Argument::layout;
  if (bad != Argument::none) return report<Int>(routine, bad);
  run(p);
  if constexpr (kComplex<T>)
    for (std::int64_t i = 0; hermitian && !p.does_nothing() && i < p.n; ++i) p.c[i * (p.ldc + 1)].imag(0);
}

/// The arguments of a batch in groups. Matrices come by pointers, those of one group after another; all else once a
/// group. Transposes are letters or C's numbers.
template <class T, class Int, class Letter>
struct Groups {
  const Letter *trans_a, *trans_b;
  const Int *m, *n, *k;
  const T* alpha;
  const T* const* a;
  const Int* lda;
  const T* const* b;
  const Int* ldb;
  const T* beta;
  T* const* c;
  const Int* ldc;
  Int count;
  const Int* size;

  Product<T> product(Int g) const {
    Product<T> p;
    p.m = m[g], p.n = n[g], p.k = k[g];
    p.alpha = alpha[g], p.beta = beta[g];
    p.lda = lda[g], p.ldb = ldb[g], p.ldc = ldc[g];
    return p;
  }
  Op op_a(Int g) const { return op_of(trans_a[g]); }
  Op op_b(Int g) const { return op_of(trans_b[g]); }
};

/// Elements from each pointer to the next, where that is one number and not negative; else -1.
template <class T>
std::int64_t distance_of(T* const* pointers, std::int64_t count) {
  const auto address = [&](std::int64_t i) { return std::int64_t(reinterpret_cast<std::uintptr_t>(pointers[i])); };
  const std::int64_t bytes = address(1) - address(0);
  if (bytes < 0 || bytes % std::int64_t(sizeof(T)) != 0) return -1;
  for (std::int64_t i = 2; i < count; ++i)
    if (address(i) - address(i - 1) != bytes) return -1;
  return bytes / std::int64_t(sizeof(T));
}

/// The products of a group. Matrices at equal distances are one batch, if they are a few: two always have a distance,
/// which would be another one each time.
template <class T>
void run_group(Product<T> p, const T* const* a, const T* const* b, T* const* c, std::int64_t size) {
  constexpr std::int64_t kFew = 4;
  if (size >= kFew) {
    p.stride_a = distance_of(a, size), p.stride_b = distance_of(b, size), p.stride_c = distance_of(c, size);
    if (p.stride_a >= 0 && p.stride_b >= 0 && p.stride_c > 0) {
      p.a = a[0], p.b = b[0], p.c = c[0], p.batch = size;
      return run(p);
    }
    p.stride_a = p.stride_b = p.stride_c = 0;
  }
  for (std::int64_t i = 0; i < size; ++i) {
    p.a = a[i], p.b = b[i], p.c = c[i];
    run(p);
  }
}

/// The first bad argument of all groups.
template <class T, class Int, class Letter>
Argument first_bad(bool row_major, const Groups<T, Int, Letter>& groups) {
  if (groups.count < 0) return Argument::count;
  for (Int g = 0; g < groups.count; ++g) {
    Product<T> p = groups.product(g);
    const Argument bad = prepare(row_major, groups.op_a(g), groups.op_b(g), p);
    if (bad != Argument::none) return bad;
    if (groups.size[g] < 0) return Argument::group_size;
  }
  return Argument::none;
}

/// A batch in groups. Nothing is computed where an argument of any group is bad.
template <class T, class Int, class Letter>
void grouped(const Routine& routine, int layout, const Groups<T, Int, Letter>& groups) {
  const bool row_major = layout == kRowMajor;
  const bool known = row_major || layout == kColumnMajor;
  const Argument bad = known ? first_bad(row_major, groups) : Argument::layout;
  if (bad != Argument::none) return report<Int>(routine, bad);
  std::int64_t done = 0;
  for (Int g = 0; g < groups.count; ++g) {
    Product<T> p = groups.product(g);
    prepare(row_major, groups.op_a(g), groups.op_b(g), p);
    const T *const *first = groups.a + done, *const *second = groups.b + done;
    if (row_major) std::swap(first, second);
    run_group(p, first, second, groups.c + done, groups.size[g]);
    done += groups.size[g];
  }
}

/// A product with Fortran's calling convention: every argument by its address.
template <class T, class Int>
void gemm(const char* name, const char* transa, const char* transb, const Int* m, const Int* n, const Int* k,
          const T* alpha, const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) {
  product<Int, T>({name, kGrouped, false}, kColumnMajor, op_of(*transa), op_of(*transb),
                  {false, false, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}

/// syrk, and herk, whose alpha and beta are real.
template <class T, class S, class Int>
void rank_k(const char* name, const char* uplo, const char* trans, const Int* n, const Int* k, const S* alpha,
            const T* a, const Int* lda, const S* beta, T* c, const Int* ldc) {
  symmetric<Int, T>({name, kSymmetric, false}, kColumnMajor, part_of(*uplo), op_of(*trans),
                    {false, false, 0, *n, *k, T(*alpha), a, *lda, nullptr, 1, T(*beta), c, *ldc},
                    kComplex<T> && !kComplex<S>);
}

template <class T, class S, class Int>
void rank_k(const char* name, int layout, int uplo, int trans, Int n, Int k, S alpha, const void* a, Int lda, S beta,
            void* c, Int ldc) {
  symmetric<Int, T>(
      {name, kSymmetric, true}, layout, part_of(uplo), op_of(trans),
      {false, false, 0, n, k, T(alpha), static_cast<const T*>(a), lda, nullptr, 1, T(beta), static_cast<T*>(c), ldc},
      kComplex<T> && !kComplex<S>);
}

}  // namespace tessera::blas
