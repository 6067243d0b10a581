// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// A hot square spreads on a torus: 1000 explicit steps, the field stays in the device's memory.
// usage: tessera-heat [BACKEND]

#include <tessera/tessera.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

namespace {

void print(const char* when, const std::vector<double>& field) {
  std::printf("%s: hottest %.4f, total heat %.6f\n", when, *std::max_element(field.begin(), field.end()),
              std::accumulate(field.begin(), field.end(), 0.0));
}

void diffuse(tessera::Context& context) {
  constexpr std::int64_t ny = 256, nx = 384;
  std::vector<double> field(ny * nx, 0.0);
  for (std::int64_t y = 112; y < 144; ++y)
    for (std::int64_t x = 176; x < 208; ++x) field[std::size_t(y * nx + x)] = 1.0;

  const auto heat = tessera::taps::identity(2) + 0.1 * tessera::taps::laplacian(2, 8);
  tessera::StencilPlan plan(context,
                            {.extents = {ny, nx},
                             .taps = heat,
                             .boundary = tessera::Boundary::periodic,
                             .steps = 1000,
                             .dtype = tessera::DType::f64},
                            {.operands = tessera::Memory::device});
  std::printf("%s\n", plan.describe().c_str());
  print("before", field);

  tessera::Buffer<double> u(context, ny * nx), v(context, ny * nx);
  u.upload(field);
  plan.execute(u, v);     // enqueues and returns
  context.synchronize();  // failures of the work surface here
  v.download(field);
  print("after", field);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    tessera::Context context = argc > 1 ? tessera::Context(argv[1]) : tessera::Context();
    diffuse(context);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
