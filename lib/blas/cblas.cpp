// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The entry points of C's interface. Layouts and transposes are its enumerations, which are ints.

#include "forms.hpp"

#include <cstdint>

namespace {

using namespace tessera::blas;
using Int32 = std::int32_t;
using Int64 = std::int64_t;

template <class T, class Int>
void gemm(const char* name, int layout, int transa, int transb, Int m, Int n, Int k, T alpha, const T* a, Int lda,
          const T* b, Int ldb, T beta, T* c, Int ldc) {
  product<Int, T>({name, kGrouped, true}, layout, op_of(transa), op_of(transb),
                  {false, false, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

template <class T, class Int>
void gemm_strided(const char* name, int layout, int transa, int transb, Int m, Int n, Int k, T alpha, const T* a,
                  Int lda, Int stridea, const T* b, Int ldb, Int strideb, T beta, T* c, Int ldc, Int stridec,
                  Int batch) {
  product<Int, T>({name, kStrided, true}, layout, op_of(transa), op_of(transb),
                  {false, false, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch, stridea, strideb, stridec});
}

template <class T, class Int>
void gemm_batch(const char* name, int layout, const Groups<T, Int, int>& groups) {
  grouped<T, Int, int>({name, kGrouped, true}, layout, groups);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void cblas_sgemm(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, float alpha, const float* a, Int32 lda,
                 const float* b, Int32 ldb, float beta, float* c, Int32 ldc) {
  gemm("cblas_sgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_sgemm_batch_strided(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, float alpha,
                               const float* a, Int32 lda, Int32 stridea, const float* b, Int32 ldb, Int32 strideb,
                               float beta, float* c, Int32 ldc, Int32 stridec, Int32 batch) {
  gemm_strided("cblas_sgemm_batch_strided", layout, transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb,
               beta, c, ldc, stridec, batch);
}

void cblas_sgemm_batch(int layout, const int* transa, const int* transb, const Int32* m, const Int32* n, const Int32* k,
                       const float* alpha, const float* const* a, const Int32* lda, const float* const* b,
                       const Int32* ldb, const float* beta, float* const* c, const Int32* ldc, Int32 group_count,
                       const Int32* group_size) {
  gemm_batch<float, Int32>("cblas_sgemm_batch", layout,
                           {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size});
}

void cblas_sgemm_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, float alpha, const float* a,
                    Int64 lda, const float* b, Int64 ldb, float beta, float* c, Int64 ldc) {
  gemm("cblas_sgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_sgemm_batch_strided_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, float alpha,
                                  const float* a, Int64 lda, Int64 stridea, const float* b, Int64 ldb, Int64 strideb,
                                  float beta, float* c, Int64 ldc, Int64 stridec, Int64 batch) {
  gemm_strided("cblas_sgemm_batch_strided", layout, transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb,
               beta, c, ldc, stridec, batch);
}

void cblas_sgemm_batch_64(int layout, const int* transa, const int* transb, const Int64* m, const Int64* n,
                          const Int64* k, const float* alpha, const float* const* a, const Int64* lda,
                          const float* const* b, const Int64* ldb, const float* beta, float* const* c, const Int64* ldc,
                          Int64 group_count, const Int64* group_size) {
  gemm_batch<float, Int64>("cblas_sgemm_batch", layout,
                           {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size});
}

void cblas_dgemm(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, double alpha, const double* a,
                 Int32 lda, const double* b, Int32 ldb, double beta, double* c, Int32 ldc) {
  gemm("cblas_dgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_dgemm_batch_strided(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, double alpha,
                               const double* a, Int32 lda, Int32 stridea, const double* b, Int32 ldb, Int32 strideb,
                               double beta, double* c, Int32 ldc, Int32 stridec, Int32 batch) {
  gemm_strided("cblas_dgemm_batch_strided", layout, transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb,
               beta, c, ldc, stridec, batch);
}

void cblas_dgemm_batch(int layout, const int* transa, const int* transb, const Int32* m, const Int32* n, const Int32* k,
                       const double* alpha, const double* const* a, const Int32* lda, const double* const* b,
                       const Int32* ldb, const double* beta, double* const* c, const Int32* ldc, Int32 group_count,
                       const Int32* group_size) {
  gemm_batch<double, Int32>("cblas_dgemm_batch", layout,
                            {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size});
}

void cblas_dgemm_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, double alpha, const double* a,
                    Int64 lda, const double* b, Int64 ldb, double beta, double* c, Int64 ldc) {
  gemm("cblas_dgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_dgemm_batch_strided_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, double alpha,
                                  const double* a, Int64 lda, Int64 stridea, const double* b, Int64 ldb, Int64 strideb,
                                  double beta, double* c, Int64 ldc, Int64 stridec, Int64 batch) {
  gemm_strided("cblas_dgemm_batch_strided", layout, transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb,
               beta, c, ldc, stridec, batch);
}

void cblas_dgemm_batch_64(int layout, const int* transa, const int* transb, const Int64* m, const Int64* n,
                          const Int64* k, const double* alpha, const double* const* a, const Int64* lda,
                          const double* const* b, const Int64* ldb, const double* beta, double* const* c,
                          const Int64* ldc, Int64 group_count, const Int64* group_size) {
  gemm_batch<double, Int64>("cblas_dgemm_batch", layout,
                            {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size});
}

// netlib and MKL put _64 behind the names for integers of 64 bits, OpenBLAS 64_. The OpenBLAS inside the wheels of
// NumPy (64 bits) and SciPy (32 bits) has a prefix.
[[gnu::alias("cblas_sgemm_64")]] decltype(cblas_sgemm_64) cblas_sgemm64_;
[[gnu::alias("cblas_sgemm")]] decltype(cblas_sgemm) scipy_cblas_sgemm;
[[gnu::alias("cblas_sgemm_64")]] decltype(cblas_sgemm_64) scipy_cblas_sgemm64_;
[[gnu::alias("cblas_sgemm_batch_64")]] decltype(cblas_sgemm_batch_64) cblas_sgemm_batch64_;
[[gnu::alias("cblas_sgemm_batch")]] decltype(cblas_sgemm_batch) scipy_cblas_sgemm_batch;
[[gnu::alias("cblas_sgemm_batch_64")]] decltype(cblas_sgemm_batch_64) scipy_cblas_sgemm_batch64_;
[[gnu::alias("cblas_sgemm_batch_strided_64")]] decltype(cblas_sgemm_batch_strided_64) cblas_sgemm_batch_strided64_;
[[gnu::alias("cblas_sgemm_batch_strided")]] decltype(cblas_sgemm_batch_strided) scipy_cblas_sgemm_batch_strided;
[[gnu::alias(
    "cblas_sgemm_batch_strided_64")]] decltype(cblas_sgemm_batch_strided_64) scipy_cblas_sgemm_batch_strided64_;
[[gnu::alias("cblas_dgemm_64")]] decltype(cblas_dgemm_64) cblas_dgemm64_;
[[gnu::alias("cblas_dgemm")]] decltype(cblas_dgemm) scipy_cblas_dgemm;
[[gnu::alias("cblas_dgemm_64")]] decltype(cblas_dgemm_64) scipy_cblas_dgemm64_;
[[gnu::alias("cblas_dgemm_batch_64")]] decltype(cblas_dgemm_batch_64) cblas_dgemm_batch64_;
[[gnu::alias("cblas_dgemm_batch")]] decltype(cblas_dgemm_batch) scipy_cblas_dgemm_batch;
[[gnu::alias("cblas_dgemm_batch_64")]] decltype(cblas_dgemm_batch_64) scipy_cblas_dgemm_batch64_;
[[gnu::alias("cblas_dgemm_batch_strided_64")]] decltype(cblas_dgemm_batch_strided_64) cblas_dgemm_batch_strided64_;
[[gnu::alias("cblas_dgemm_batch_strided")]] decltype(cblas_dgemm_batch_strided) scipy_cblas_dgemm_batch_strided;
[[gnu::alias(
    "cblas_dgemm_batch_strided_64")]] decltype(cblas_dgemm_batch_strided_64) scipy_cblas_dgemm_batch_strided64_;

}  // extern "C"
#pragma GCC visibility pop
