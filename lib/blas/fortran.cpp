// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The entry points with Fortran's calling convention: every argument by its address. The lengths of strings, which
// Fortran passes behind the arguments, are not looked at.

#include "forms.hpp"

#include <cstdint>

namespace {

using namespace tessera::blas;
using Int32 = std::int32_t;
using Int64 = std::int64_t;

template <class T, class Int>
void gemm_strided(const char* name, const char* transa, const char* transb, const Int* m, const Int* n, const Int* k,
                  const T* alpha, const T* a, const Int* lda, const Int* stridea, const T* b, const Int* ldb,
                  const Int* strideb, const T* beta, T* c, const Int* ldc, const Int* stridec, const Int* batch) {
  product<Int, T>(
      {name, kStrided, false}, kColumnMajor, op_of(*transa), op_of(*transb),
      {false, false, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc, *batch, *stridea, *strideb, *stridec});
}

template <class T, class Int>
void gemm_batch(const char* name, const Groups<T, Int, char>& groups) {
  grouped<T, Int, char>({name, kGrouped, false}, kColumnMajor, groups);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void sgemm_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k, const float* alpha,
            const float* a, const Int32* lda, const float* b, const Int32* ldb, const float* beta, float* c,
            const Int32* ldc) {
  gemm("SGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void sgemm_batch_strided_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k,
                          const float* alpha, const float* a, const Int32* lda, const Int32* stridea, const float* b,
                          const Int32* ldb, const Int32* strideb, const float* beta, float* c, const Int32* ldc,
                          const Int32* stridec, const Int32* batch) {
  gemm_strided("SGEMM_BATCH_STRIDED", transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb, beta, c, ldc,
               stridec, batch);
}

void sgemm_batch_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k,
                  const float* alpha, const float* const* a, const Int32* lda, const float* const* b, const Int32* ldb,
                  const float* beta, float* const* c, const Int32* ldc, const Int32* group_count,
                  const Int32* group_size) {
  gemm_batch<float, Int32>("SGEMM_BATCH",
                           {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, *group_count, group_size});
}

void sgemm_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
               const float* alpha, const float* a, const Int64* lda, const float* b, const Int64* ldb,
               const float* beta, float* c, const Int64* ldc) {
  gemm("SGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void sgemm_batch_strided_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
                             const float* alpha, const float* a, const Int64* lda, const Int64* stridea, const float* b,
                             const Int64* ldb, const Int64* strideb, const float* beta, float* c, const Int64* ldc,
                             const Int64* stridec, const Int64* batch) {
  gemm_strided("SGEMM_BATCH_STRIDED", transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb, beta, c, ldc,
               stridec, batch);
}

void sgemm_batch_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
                     const float* alpha, const float* const* a, const Int64* lda, const float* const* b,
                     const Int64* ldb, const float* beta, float* const* c, const Int64* ldc, const Int64* group_count,
                     const Int64* group_size) {
  gemm_batch<float, Int64>("SGEMM_BATCH",
                           {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, *group_count, group_size});
}

void dgemm_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k, const double* alpha,
            const double* a, const Int32* lda, const double* b, const Int32* ldb, const double* beta, double* c,
            const Int32* ldc) {
  gemm("DGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void dgemm_batch_strided_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k,
                          const double* alpha, const double* a, const Int32* lda, const Int32* stridea, const double* b,
                          const Int32* ldb, const Int32* strideb, const double* beta, double* c, const Int32* ldc,
                          const Int32* stridec, const Int32* batch) {
  gemm_strided("DGEMM_BATCH_STRIDED", transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb, beta, c, ldc,
               stridec, batch);
}

void dgemm_batch_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k,
                  const double* alpha, const double* const* a, const Int32* lda, const double* const* b,
                  const Int32* ldb, const double* beta, double* const* c, const Int32* ldc, const Int32* group_count,
                  const Int32* group_size) {
  gemm_batch<double, Int32>("DGEMM_BATCH",
                            {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, *group_count, group_size});
}

void dgemm_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
               const double* alpha, const double* a, const Int64* lda, const double* b, const Int64* ldb,
               const double* beta, double* c, const Int64* ldc) {
  gemm("DGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void dgemm_batch_strided_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
                             const double* alpha, const double* a, const Int64* lda, const Int64* stridea,
                             const double* b, const Int64* ldb, const Int64* strideb, const double* beta, double* c,
                             const Int64* ldc, const Int64* stridec, const Int64* batch) {
  gemm_strided("DGEMM_BATCH_STRIDED", transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb, beta, c, ldc,
               stridec, batch);
}

void dgemm_batch_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
                     const double* alpha, const double* const* a, const Int64* lda, const double* const* b,
                     const Int64* ldb, const double* beta, double* const* c, const Int64* ldc, const Int64* group_count,
                     const Int64* group_size) {
  gemm_batch<double, Int64>("DGEMM_BATCH",
                            {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, *group_count, group_size});
}

// The OpenBLAS inside the wheels of NumPy (64 bits) and SciPy (32 bits) has a prefix.
[[gnu::alias("sgemm_")]] decltype(sgemm_) scipy_sgemm_;
[[gnu::alias("sgemm_64_")]] decltype(sgemm_64_) scipy_sgemm_64_;
[[gnu::alias("dgemm_")]] decltype(dgemm_) scipy_dgemm_;
[[gnu::alias("dgemm_64_")]] decltype(dgemm_64_) scipy_dgemm_64_;

}  // extern "C"
#pragma GCC visibility pop
