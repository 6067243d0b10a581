// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The entry points of complex products, with Fortran's calling convention and in C, where complex numbers come by
// pointers. gemm3m is gemm: more exact than its three products are.

#include "forms.hpp"

#include <complex>
#include <cstdint>

namespace {

using namespace tessera::blas;
using Int32 = std::int32_t;
using Int64 = std::int64_t;
using C64 = std::complex<float>;
using C128 = std::complex<double>;

template <class T, class Int>
void gemm(const char* name, int layout, int transa, int transb, Int m, Int n, Int k, const void* alpha, const void* a,
          Int lda, const void* b, Int ldb, const void* beta, void* c, Int ldc) {
  const auto at = [](const void* x) { return static_cast<const T*>(x); };
  product<Int, T>({name, kGrouped, true}, layout, op_of(transa), op_of(transb),
                  {false, false, m, n, k, *at(alpha), at(a), lda, at(b), ldb, *at(beta), static_cast<T*>(c), ldc});
}

template <class T>
T value(const void* x) {
  return *static_cast<const T*>(x);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void cgemm_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k, const C64* alpha,
            const C64* a, const Int32* lda, const C64* b, const Int32* ldb, const C64* beta, C64* c, const Int32* ldc) {
  gemm("CGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cgemm3m_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k, const C64* alpha,
              const C64* a, const Int32* lda, const C64* b, const Int32* ldb, const C64* beta, C64* c,
              const Int32* ldc) {
  gemm("CGEMM3M ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void csyrk_(const char* uplo, const char* trans, const Int32* n, const Int32* k, const C64* alpha, const C64* a,
            const Int32* lda, const C64* beta, C64* c, const Int32* ldc) {
  rank_k("CSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cherk_(const char* uplo, const char* trans, const Int32* n, const Int32* k, const float* alpha, const C64* a,
            const Int32* lda, const float* beta, C64* c, const Int32* ldc) {
  rank_k("CHERK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_cgemm(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, const void* alpha, const void* a,
                 Int32 lda, const void* b, Int32 ldb, const void* beta, void* c, Int32 ldc) {
  gemm<C64>("cblas_cgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_cgemm3m(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, const void* alpha, const void* a,
                   Int32 lda, const void* b, Int32 ldb, const void* beta, void* c, Int32 ldc) {
  gemm<C64>("cblas_cgemm3m", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_csyrk(int layout, int uplo, int trans, Int32 n, Int32 k, const void* alpha, const void* a, Int32 lda,
                 const void* beta, void* c, Int32 ldc) {
  rank_k<C64>("cblas_csyrk", layout, uplo, trans, n, k, value<C64>(alpha), a, lda, value<C64>(beta), c, ldc);
}

void cblas_cherk(int layout, int uplo, int trans, Int32 n, Int32 k, float alpha, const void* a, Int32 lda, float beta,
                 void* c, Int32 ldc) {
  rank_k<C64>("cblas_cherk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cgemm_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k, const C64* alpha,
               const C64* a, const Int64* lda, const C64* b, const Int64* ldb, const C64* beta, C64* c,
               const Int64* ldc) {
  gemm("CGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cgemm3m_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
                 const C64* alpha, const C64* a, const Int64* lda, const C64* b, const Int64* ldb, const C64* beta,
                 C64* c, const Int64* ldc) {
  gemm("CGEMM3M ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void csyrk_64_(const char* uplo, const char* trans, const Int64* n, const Int64* k, const C64* alpha, const C64* a,
               const Int64* lda, const C64* beta, C64* c, const Int64* ldc) {
  rank_k("CSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cherk_64_(const char* uplo, const char* trans, const Int64* n, const Int64* k, const float* alpha, const C64* a,
               const Int64* lda, const float* beta, C64* c, const Int64* ldc) {
  rank_k("CHERK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_cgemm_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, const void* alpha, const void* a,
                    Int64 lda, const void* b, Int64 ldb, const void* beta, void* c, Int64 ldc) {
  gemm<C64>("cblas_cgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_cgemm3m_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, const void* alpha, const void* a,
                      Int64 lda, const void* b, Int64 ldb, const void* beta, void* c, Int64 ldc) {
  gemm<C64>("cblas_cgemm3m", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_csyrk_64(int layout, int uplo, int trans, Int64 n, Int64 k, const void* alpha, const void* a, Int64 lda,
                    const void* beta, void* c, Int64 ldc) {
  rank_k<C64>("cblas_csyrk", layout, uplo, trans, n, k, value<C64>(alpha), a, lda, value<C64>(beta), c, ldc);
}

void cblas_cherk_64(int layout, int uplo, int trans, Int64 n, Int64 k, float alpha, const void* a, Int64 lda,
                    float beta, void* c, Int64 ldc) {
  rank_k<C64>("cblas_cherk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void zgemm_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k, const C128* alpha,
            const C128* a, const Int32* lda, const C128* b, const Int32* ldb, const C128* beta, C128* c,
            const Int32* ldc) {
  gemm("ZGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void zgemm3m_(const char* transa, const char* transb, const Int32* m, const Int32* n, const Int32* k, const C128* alpha,
              const C128* a, const Int32* lda, const C128* b, const Int32* ldb, const C128* beta, C128* c,
              const Int32* ldc) {
  gemm("ZGEMM3M ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void zsyrk_(const char* uplo, const char* trans, const Int32* n, const Int32* k, const C128* alpha, const C128* a,
            const Int32* lda, const C128* beta, C128* c, const Int32* ldc) {
  rank_k("ZSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void zherk_(const char* uplo, const char* trans, const Int32* n, const Int32* k, const double* alpha, const C128* a,
            const Int32* lda, const double* beta, C128* c, const Int32* ldc) {
  rank_k("ZHERK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_zgemm(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, const void* alpha, const void* a,
                 Int32 lda, const void* b, Int32 ldb, const void* beta, void* c, Int32 ldc) {
  gemm<C128>("cblas_zgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_zgemm3m(int layout, int transa, int transb, Int32 m, Int32 n, Int32 k, const void* alpha, const void* a,
                   Int32 lda, const void* b, Int32 ldb, const void* beta, void* c, Int32 ldc) {
  gemm<C128>("cblas_zgemm3m", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_zsyrk(int layout, int uplo, int trans, Int32 n, Int32 k, const void* alpha, const void* a, Int32 lda,
                 const void* beta, void* c, Int32 ldc) {
  rank_k<C128>("cblas_zsyrk", layout, uplo, trans, n, k, value<C128>(alpha), a, lda, value<C128>(beta), c, ldc);
}

void cblas_zherk(int layout, int uplo, int trans, Int32 n, Int32 k, double alpha, const void* a, Int32 lda, double beta,
                 void* c, Int32 ldc) {
  rank_k<C128>("cblas_zherk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void zgemm_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
               const C128* alpha, const C128* a, const Int64* lda, const C128* b, const Int64* ldb, const C128* beta,
               C128* c, const Int64* ldc) {
  gemm("ZGEMM ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void zgemm3m_64_(const char* transa, const char* transb, const Int64* m, const Int64* n, const Int64* k,
                 const C128* alpha, const C128* a, const Int64* lda, const C128* b, const Int64* ldb, const C128* beta,
                 C128* c, const Int64* ldc) {
  gemm("ZGEMM3M ", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void zsyrk_64_(const char* uplo, const char* trans, const Int64* n, const Int64* k, const C128* alpha, const C128* a,
               const Int64* lda, const C128* beta, C128* c, const Int64* ldc) {
  rank_k("ZSYRK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void zherk_64_(const char* uplo, const char* trans, const Int64* n, const Int64* k, const double* alpha, const C128* a,
               const Int64* lda, const double* beta, C128* c, const Int64* ldc) {
  rank_k("ZHERK ", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_zgemm_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, const void* alpha, const void* a,
                    Int64 lda, const void* b, Int64 ldb, const void* beta, void* c, Int64 ldc) {
  gemm<C128>("cblas_zgemm", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_zgemm3m_64(int layout, int transa, int transb, Int64 m, Int64 n, Int64 k, const void* alpha, const void* a,
                      Int64 lda, const void* b, Int64 ldb, const void* beta, void* c, Int64 ldc) {
  gemm<C128>("cblas_zgemm3m", layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_zsyrk_64(int layout, int uplo, int trans, Int64 n, Int64 k, const void* alpha, const void* a, Int64 lda,
                    const void* beta, void* c, Int64 ldc) {
  rank_k<C128>("cblas_zsyrk", layout, uplo, trans, n, k, value<C128>(alpha), a, lda, value<C128>(beta), c, ldc);
}

void cblas_zherk_64(int layout, int uplo, int trans, Int64 n, Int64 k, double alpha, const void* a, Int64 lda,
                    double beta, void* c, Int64 ldc) {
  rank_k<C128>("cblas_zherk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

// As those of real products: see cblas.cpp.
[[gnu::alias("cgemm_")]] decltype(cgemm_) scipy_cgemm_;
[[gnu::alias("cgemm_64_")]] decltype(cgemm_64_) scipy_cgemm_64_;
[[gnu::alias("cblas_cgemm_64")]] decltype(cblas_cgemm_64) cblas_cgemm64_;
[[gnu::alias("cblas_cgemm")]] decltype(cblas_cgemm) scipy_cblas_cgemm;
[[gnu::alias("cblas_cgemm_64")]] decltype(cblas_cgemm_64) scipy_cblas_cgemm64_;
[[gnu::alias("cgemm3m_")]] decltype(cgemm3m_) scipy_cgemm3m_;
[[gnu::alias("cgemm3m_64_")]] decltype(cgemm3m_64_) scipy_cgemm3m_64_;
[[gnu::alias("cblas_cgemm3m_64")]] decltype(cblas_cgemm3m_64) cblas_cgemm3m64_;
[[gnu::alias("cblas_cgemm3m")]] decltype(cblas_cgemm3m) scipy_cblas_cgemm3m;
[[gnu::alias("cblas_cgemm3m_64")]] decltype(cblas_cgemm3m_64) scipy_cblas_cgemm3m64_;
[[gnu::alias("csyrk_")]] decltype(csyrk_) scipy_csyrk_;
[[gnu::alias("csyrk_64_")]] decltype(csyrk_64_) scipy_csyrk_64_;
[[gnu::alias("cblas_csyrk_64")]] decltype(cblas_csyrk_64) cblas_csyrk64_;
[[gnu::alias("cblas_csyrk")]] decltype(cblas_csyrk) scipy_cblas_csyrk;
[[gnu::alias("cblas_csyrk_64")]] decltype(cblas_csyrk_64) scipy_cblas_csyrk64_;
[[gnu::alias("cherk_")]] decltype(cherk_) scipy_cherk_;
[[gnu::alias("cherk_64_")]] decltype(cherk_64_) scipy_cherk_64_;
[[gnu::alias("cblas_cherk_64")]] decltype(cblas_cherk_64) cblas_cherk64_;
[[gnu::alias("cblas_cherk")]] decltype(cblas_cherk) scipy_cblas_cherk;
[[gnu::alias("cblas_cherk_64")]] decltype(cblas_cherk_64) scipy_cblas_cherk64_;
[[gnu::alias("zgemm_")]] decltype(zgemm_) scipy_zgemm_;
[[gnu::alias("zgemm_64_")]] decltype(zgemm_64_) scipy_zgemm_64_;
[[gnu::alias("cblas_zgemm_64")]] decltype(cblas_zgemm_64) cblas_zgemm64_;
[[gnu::alias("cblas_zgemm")]] decltype(cblas_zgemm) scipy_cblas_zgemm;
[[gnu::alias("cblas_zgemm_64")]] decltype(cblas_zgemm_64) scipy_cblas_zgemm64_;
[[gnu::alias("zgemm3m_")]] decltype(zgemm3m_) scipy_zgemm3m_;
[[gnu::alias("zgemm3m_64_")]] decltype(zgemm3m_64_) scipy_zgemm3m_64_;
[[gnu::alias("cblas_zgemm3m_64")]] decltype(cblas_zgemm3m_64) cblas_zgemm3m64_;
[[gnu::alias("cblas_zgemm3m")]] decltype(cblas_zgemm3m) scipy_cblas_zgemm3m;
[[gnu::alias("cblas_zgemm3m_64")]] decltype(cblas_zgemm3m_64) scipy_cblas_zgemm3m64_;
[[gnu::alias("zsyrk_")]] decltype(zsyrk_) scipy_zsyrk_;
[[gnu::alias("zsyrk_64_")]] decltype(zsyrk_64_) scipy_zsyrk_64_;
[[gnu::alias("cblas_zsyrk_64")]] decltype(cblas_zsyrk_64) cblas_zsyrk64_;
[[gnu::alias("cblas_zsyrk")]] decltype(cblas_zsyrk) scipy_cblas_zsyrk;
[[gnu::alias("cblas_zsyrk_64")]] decltype(cblas_zsyrk_64) scipy_cblas_zsyrk64_;
[[gnu::alias("zherk_")]] decltype(zherk_) scipy_zherk_;
[[gnu::alias("zherk_64_")]] decltype(zherk_64_) scipy_zherk_64_;
[[gnu::alias("cblas_zherk_64")]] decltype(cblas_zherk_64) cblas_zherk64_;
[[gnu::alias("cblas_zherk")]] decltype(cblas_zherk) scipy_cblas_zherk;
[[gnu::alias("cblas_zherk_64")]] decltype(cblas_zherk_64) scipy_cblas_zherk64_;

}  // extern "C"
#pragma GCC visibility pop
