// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// program with|without: prints the library's version and, with a backend, a product.
#include <tessera/tessera.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  std::printf("tessera %s\n", tessera_version());
  if (argc < 2 || std::strcmp(argv[1], "with") != 0) return 0;
  const std::vector<float> a = {1, 2, 0, 1};  // 2 x 2, row by row
  std::vector<float> c(4);
  tessera::gemm({.m = 2, .n = 2, .k = 2}, 1.0f, a, a, 0.0f, c);
  std::printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  return c == std::vector<float>{1, 4, 0, 1} ? 0 : 1;
}
