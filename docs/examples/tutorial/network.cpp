// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's layer of a network: a product of bf16 with a bias and an activation, a residual, sums in f32.

#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using tessera::bfloat16;

int main() {
  const std::int64_t tokens = 64, in = 256, out = 128;
  const std::vector<bfloat16> x(tokens * in, bfloat16(0.5f)), weights(out * in, bfloat16(0.015625f));
  std::vector<bfloat16> y(tokens * out);
  const std::vector<float> offsets(out, -1.0f);

  // y <- gelu(x weights^T + offsets): 256 * 0.5 / 64 - 1 = 1 in every element before the gelu.
  tessera::GemmDesc layer{.m = tokens, .n = out, .k = in, .trans_b = tessera::Transpose::yes};
  layer.bias = tessera::Bias::per_column;
  layer.activation = tessera::Activation::gelu;
  tessera::gemm(layer, 1.0f, x, weights, 0.0f, y, tessera::bias(offsets));
  const float gelu = 0.5f * (1.0f + std::erf(std::sqrt(0.5f)));
  bool right = std::abs(float(y[0]) - gelu) <= 0x1p-9f + 1e-6f;  // half a unit of bf16 below 1

  // The same without an activation, added to a residual, which is only read.
  const std::vector<bfloat16> residual(tokens * out, bfloat16(3.0f));
  layer.activation = tessera::Activation::none;
  tessera::gemm(layer, 1.0f, x, weights, 1.0f, residual, y, tessera::bias(offsets));
  right = right && float(y[0]) == 4.0f;

  // The sums themselves, in f32.
  std::vector<float> sums(tokens * out);
  tessera::GemmDesc product{.m = tokens, .n = out, .k = in, .trans_b = tessera::Transpose::yes};
  tessera::gemm(product, 1.0f, x, weights, 0.0f, sums);

  // f32 data whose products may be computed from less than they say, where a backend is faster so.
  const std::vector<float> a(64 * 64, 1.0f), b(64 * 64, 2.0f);
  std::vector<float> c(64 * 64);
  tessera::GemmPlan permissive({.m = 64, .n = 64, .k = 64, .compute = tessera::Compute::tf32});
  permissive.execute(1.0f, a, b, 0.0f, c);

  std::printf("%g %g %g\n", float(y[0]), sums[0], c[0]);
  return right && sums[0] == 2.0f && c[0] == 128.0f ? 0 : 1;
}
