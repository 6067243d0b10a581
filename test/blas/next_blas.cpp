// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// A BLAS behind libtessera_blas, for LD_PRELOAD: says on stdout that it was asked.

#include <cstddef>
#include <cstdio>

namespace {

template <class T>
void product(const char* name, const char* transa, const char* transb, int m, int n, int k, T alpha, const T* a,
             int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  std::printf("next %s\n", name);
  const bool ta = *transa == 'T', tb = *transb == 'T';
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum = 0;
      for (int p = 0; p < k; ++p) sum += a[ta ? p + i * lda : i + p * lda] * b[tb ? j + p * ldb : p + j * ldb];
      c[i + j * ldc] = alpha * sum + (beta == T(0) ? T(0) : beta * c[i + j * ldc]);
    }
}

template <class T>
void triangle(const char* name, const char* uplo, const char* trans, int n, int k, T alpha, const T* a, int lda, T beta,
              T* c, int ldc) {
  std::printf("next %s\n", name);
  const bool ta = *trans == 'T';
  for (int j = 0; j < n; ++j)
    for (int i = *uplo == 'U' ? 0 : j; i < (*uplo == 'U' ? j + 1 : n); ++i) {
      T sum = 0;
      for (int p = 0; p < k; ++p) sum += a[ta ? p + i * lda : i + p * lda] * a[ta ? p + j * lda : j + p * lda];
      c[i + j * ldc] = alpha * sum + (beta == T(0) ? T(0) : beta * c[i + j * ldc]);
    }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc,
            std::size_t, std::size_t) {
  product("sgemm_", transa, transb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc, std::size_t, std::size_t) {
  product("dgemm_", transa, transb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* a,
            const int* lda, const double* beta, double* c, const int* ldc, std::size_t, std::size_t) {
  triangle("dsyrk_", uplo, trans, *n, *k, *alpha, a, *lda, *beta, c, *ldc);
}
}
#pragma GCC visibility pop
