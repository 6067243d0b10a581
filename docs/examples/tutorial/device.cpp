// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's device memory: operands stay where they are computed. TESSERA_BACKEND says where that is.

#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t n = 256;

/// A product and a stencil behind it: every element of the result is n.
bool product_and_stencil() {
  tessera::Context context;  // where TESSERA_BACKEND says, else where a large product is fastest
  const tessera::PlanOptions on_device = {.operands = tessera::Memory::device};
  tessera::GemmPlan product(context, {.m = n, .n = n, .k = n}, on_device);
  tessera::StencilPlan smooth(context, {.extents = {n, n}, .taps = tessera::taps::box(2, 1)}, on_device);

  tessera::Buffer<float> a(context, n * n), b(context, n * n), c(context, n * n), d(context, n * n);
  const std::vector<float> ones(n * n, 1.0f);
  a.upload(ones);
  b.upload(ones);
  product.execute(1.0f, a, b, 0.0f, c);  // queued behind the uploads
  smooth.execute(c, d);                  // queued behind the product

  std::vector<float> result(n * n);
  d.download(result);     // behind all of that; complete on return
  context.synchronize();  // failures of queued work are thrown here

  const std::int64_t half = n / 2 * n;  // elements of the upper rows; the lower ones get their product once more
  tessera::gemm(context, {.m = n / 2, .n = n, .k = n}, 1.0f, a.data() + half, b.data(), 1.0f, c.data() + half,
                {.operands = tessera::Memory::device});
  std::vector<float> twice(n * n);
  c.download(twice);

  std::printf("%s, device %d: %g\n", context.backend().c_str(), context.device(), result[n + 1]);
  return result[n + 1] == 256 && twice[half - 1] == 256 && twice[half] == 512 && twice[n * n - 1] == 512;
}

/// Many steps of one field: what is hot spreads, and none of it is lost.
bool many_steps() {
  tessera::Context context;
  const auto heat = tessera::taps::identity(2) + 0.2 * tessera::taps::laplacian(2);
  const tessera::StencilDesc desc = {
      .extents = {n, n}, .taps = heat, .boundary = tessera::Boundary::periodic, .steps = 20};
  std::vector<float> field(n * n, 0.0f);
  field[0] = 1024;

  tessera::StencilPlan steps(context, desc, {.operands = tessera::Memory::device});
  tessera::Buffer<float> u(context, n * n), v(context, n * n);
  u.upload(field);
  for (int i = 0; i < 10; ++i) {
    steps.execute(u, v);  // desc.steps of them
    std::swap(u, v);      // the handles: nothing is copied
  }
  u.download(field);

  const double total = std::accumulate(field.begin(), field.end(), 0.0);
  std::printf("hottest %g, total %g\n", field[0], total);
  return field[0] > 1 && field[0] < 10 && std::abs(total - 1024) < 1;
}

}  // namespace

int main() { return product_and_stencil() && many_steps() ? 0 : 1; }
