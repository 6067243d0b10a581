// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The entry points of symmetric products, with Fortran's calling convention and in C.

#include "forms.hpp"

#include <cstdint>

namespace {

using namespace tessera::blas;
using Int32 = std::int32_t;
using Int64 = std::int64_t;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void ssyrk_(const char* uplo, const char* trans, const Int32* n, const Int32* k, const float* alpha, const float* a,
            const Int32* lda, const float* beta, float* c, const Int32* ldc) {
  rank_k("SSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void ssyrk_64_(const char* uplo, const char* trans, const Int64* n, const Int64* k, const float* alpha, const float* a,
               const Int64* lda, const float* beta, float* c, const Int64* ldc) {
  rank_k("SSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_ssyrk(int layout, int uplo, int trans, Int32 n, Int32 k, float alpha, const float* a, Int32 lda, float beta,
                 float* c, Int32 ldc) {
  rank_k<float>("cblas_ssyrk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_ssyrk_64(int layout, int uplo, int trans, Int64 n, Int64 k, float alpha, const float* a, Int64 lda,
                    float beta, float* c, Int64 ldc) {
  rank_k<float>("cblas_ssyrk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void dsyrk_(const char* uplo, const char* trans, const Int32* n, const Int32* k, const double* alpha, const double* a,
            const Int32* lda, const double* beta, double* c, const Int32* ldc) {
  rank_k("DSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void dsyrk_64_(const char* uplo, const char* trans, const Int64* n, const Int64* k, const double* alpha,
               const double* a, const Int64* lda, const double* beta, double* c, const Int64* ldc) {
  rank_k("DSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_dsyrk(int layout, int uplo, int trans, Int32 n, Int32 k, double alpha, const double* a, Int32 lda,
                 double beta, double* c, Int32 ldc) {
  rank_k<double>("cblas_dsyrk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_dsyrk_64(int layout, int uplo, int trans, Int64 n, Int64 k, double alpha, const double* a, Int64 lda,
                    double beta, double* c, Int64 ldc) {
  rank_k<double>("cblas_dsyrk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

// As those of products: see cblas.cpp.
[[gnu::alias("ssyrk_")]] decltype(ssyrk_) scipy_ssyrk_;
[[gnu::alias("ssyrk_64_")]] decltype(ssyrk_64_) scipy_ssyrk_64_;
[[gnu::alias("cblas_ssyrk_64")]] decltype(cblas_ssyrk_64) cblas_ssyrk64_;
[[gnu::alias("cblas_ssyrk")]] decltype(cblas_ssyrk) scipy_cblas_ssyrk;
[[gnu::alias("cblas_ssyrk_64")]] decltype(cblas_ssyrk_64) scipy_cblas_ssyrk64_;
[[gnu::alias("dsyrk_")]] decltype(dsyrk_) scipy_dsyrk_;
[[gnu::alias("dsyrk_64_")]] decltype(dsyrk_64_) scipy_dsyrk_64_;
[[gnu::alias("cblas_dsyrk_64")]] decltype(cblas_dsyrk_64) cblas_dsyrk64_;
[[gnu::alias("cblas_dsyrk")]] decltype(cblas_dsyrk) scipy_cblas_dsyrk;
[[gnu::alias("cblas_dsyrk_64")]] decltype(cblas_dsyrk_64) scipy_cblas_dsyrk64_;

}  // extern "C"
#pragma GCC visibility pop
