// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include <tessera/tessera.hpp>

#include <cstdio>
#include <vector>

int main() try {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};  // 2 x 3, row by row
  const std::vector<float> b = {1, 0, 0, 1, 1, 1};  // 3 x 2
  std::vector<float> c(4);

  tessera::gemm({.m = 2, .n = 2, .k = 3}, 1.0f, a, b, 0.0f, c);  // C <- 1 A B + 0 C
  tessera::GemmPlan plan({.m = 2, .n = 2, .k = 3});              // the same to keep: made once, executed often
  plan.execute(1.0f, a, b, 0.0f, c);
  std::printf("%s\n%g %g\n%g %g\n", plan.describe().c_str(), c[0], c[1], c[2], c[3]);
} catch (const tessera::Error& error) {  // as where TESSERA_BACKEND names what is not here
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
