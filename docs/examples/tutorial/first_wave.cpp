// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's third chapter: a standing wave of a square. After each step it is the same shape times a cosine.

#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

int main() {
  constexpr std::int64_t n = 65, kSteps = 20;
  const double k = std::numbers::pi / double(n - 1);
  const double omega = 2 * std::asin(std::sqrt(0.25 * 2) * std::sin(k / 2));  // a step's phase, by the scheme
  std::vector<float> shape, now, before;
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t x = 0; x < n; ++x) shape.push_back(float(std::sin(k * double(z)) * std::sin(k * double(x))));
  now = before = shape;
  for (float& value : before) value *= float(std::cos(omega));

  tessera::StencilSystem system({n, n});
  const tessera::SystemField u = system.state("u", {.levels = 2});
  system.update(u) = 2 * u - u[-1] + 0.25 * u.under(tessera::taps::laplacian(2));
  tessera::SystemPlan plan(system, kSteps);
  plan.execute({{u, now, before}});

  const std::vector<float>& newest = plan.newest(u) == 0 ? now : before;
  // A step adds seven terms, whose absolute values sum up to 5 at most: 8 roundings of 5. A step's error comes back up
  // to kSteps times, and so do the two roundings of the values that it begins with.
  const double tolerance = (0.5 * kSteps * kSteps * 8 * 5 + 2 * kSteps) * 0x1p-24;
  const double expected = std::cos(omega * kSteps), there = newest[std::size_t(n / 2 * n + n / 2)];
  std::printf("standing wave: %.5f, expected %.5f\n", there, expected);
  return std::abs(there - expected) <= tolerance ? 0 : 1;
}
