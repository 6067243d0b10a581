// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's first stencil: heat spreads in a plate whose left side is kept hot.

#include <tessera/tessera.hpp>

#include <cstdio>
#include <vector>

int main() {
  using tessera::Boundary, tessera::BoundaryAxis, tessera::BoundarySide;
  const std::int64_t ny = 64, nx = 96;
  std::vector<float> plate(ny * nx, 0.0f), later(ny * nx);

  const tessera::Taps heat = tessera::taps::identity(2) + 0.2 * tessera::taps::laplacian(2);

  tessera::StencilPlan plan({.extents = {ny, nx},
                             .taps = heat,
                             .boundary = {Boundary::mirror,  // above and below
                                          BoundaryAxis(BoundarySide(Boundary::constant, 100.0), Boundary::nearest)},
                             .steps = 50});
  std::puts(plan.describe().c_str());
  plan.execute(plate, later);  // all 50 steps; plate is only read

  // Taps by hand: the mean of a point's four neighbours.
  const tessera::Taps mean(2, {{{-1, 0}, 0.25}, {{1, 0}, 0.25}, {{0, -1}, 0.25}, {{0, 1}, 0.25}});
  tessera::stencil({.extents = {ny, nx}, .taps = mean, .boundary = Boundary::fixed}, later, plate);  // edges stay

  std::vector<float> blurred(later.size());
  const tessera::Taps blur = tessera::taps::gaussian(2, 1.5);  // a standard deviation of 1.5 points
  tessera::stencil({.extents = {ny, nx}, .taps = blur, .boundary = Boundary::reflect}, later, blurred);

  std::printf("near the hot side %.1f, far away %.1f\n", later[0], later[nx - 1]);
  const bool is_blurred = blurred[0] < later[0] && blurred[0] > later[5];  // the mean of what is near
  return later[0] > 80 && later[nx - 1] < 1 && plate[0] == later[0] && is_blurred ? 0 : 1;
}
