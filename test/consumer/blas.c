/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A program that knows BLAS alone. */

#include <stdio.h>

void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc);

int main(void) {
  const double a[] = {1, 2, 3, 4}, b[] = {2, 1, 1, 2};
  double c[4];
  cblas_dgemm(101, 111, 111, 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 2);
  printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);
  return 0;
}
