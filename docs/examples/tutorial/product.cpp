// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's first product: A B in one call, C <- 2 A B + C by a plan, a transposed operand and a batch.

#include <tessera/tessera.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  const std::int64_t m = 300, n = 200, k = 100;
  std::vector<double> a(m * k, 0.5), b(k * n, 2.0), c(m * n);

  tessera::gemm({.m = m, .n = n, .k = k}, 1.0, a, b, 0.0, c);  // every element: 100 * 0.5 * 2 = 100
  bool right = c[0] == 100;

  tessera::GemmPlan plan({.m = m, .n = n, .k = k, .dtype = tessera::DType::f64});
  std::puts(plan.describe().c_str());
  plan.execute(2.0, a, b, 1.0, c);  // every element: 2 * 100 * 0.5 * 2 + 100 = 300
  right &= c[0] == 300;

  // B is stored transposed: n rows of k elements.
  std::vector<double> bt(n * k, 2.0);
  tessera::GemmPlan transposed(
      {.m = m, .n = n, .k = k, .dtype = tessera::DType::f64, .trans_b = tessera::Transpose::yes});
  transposed.execute(1.0, a, bt, 1.0, c);  // 300 + 100

  // Five products of 8 x 8 matrices, one behind the other in memory, all with the same B.
  std::vector<float> batch_a(5 * 64), one_b(64, 1.0f), batch_c(5 * 64);
  std::iota(batch_a.begin(), batch_a.end(), 0.0f);
  tessera::GemmPlan batch({.m = 8, .n = 8, .k = 8, .batch = 5, .stride_b = 0});
  batch.execute(1.0f, batch_a, one_b, 0.0f, batch_c);

  std::printf("%g %g\n", c[0], batch_c[0]);
  return right && c[0] == 400 && c[m * n - 1] == 400 && batch_c[0] == 28 ? 0 : 1;
}
