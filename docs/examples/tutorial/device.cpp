// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's device memory: operands stay where they are computed.
// usage: tessera-tutorial-device [BACKEND]

#include <tessera/tessera.hpp>

#include <cstdio>
#include <vector>

namespace {

double run(tessera::Context& context) {
  const std::int64_t n = 256;
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
  return result[0];
}

}  // namespace

int main(int argc, char** argv) {
  tessera::Context context = argc > 1 ? tessera::Context(argv[1]) : tessera::Context();
  const double result = run(context);
  std::printf("%s, device %d: %g\n", context.backend().c_str(), context.device(), result);
  return result == 256 ? 0 : 1;
}
