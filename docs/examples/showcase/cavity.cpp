// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "bounded.hpp"
#include "systems.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>

namespace showcase {
namespace {

constexpr std::int64_t ny = 81, nx = 121, kSteps = 2000;
constexpr std::int64_t kHalfWavesY = 8, kHalfWavesX = 12;  // of the mode
constexpr double kCourant = 0.5;                           // c dt / h
constexpr std::int64_t kProbeY = 5, kProbeX = 5;           // where the mode is largest

double sine(std::int64_t half_waves, std::int64_t i, std::int64_t extent) {
  return std::sin(std::numbers::pi * double(half_waves * i) / double(extent - 1));
}

/// The mode's phase in a step by Yee's scheme: sin(w / 2)^2 = courant^2 (sin(k_y / 2)^2 + sin(k_x / 2)^2).
double phase_of_scheme() {
  const auto half = [](std::int64_t half_waves, std::int64_t extent) {
    return std::sin(0.5 * std::numbers::pi * double(half_waves) / double(extent - 1));
  };
  return 2.0 * std::asin(kCourant * std::hypot(half(kHalfWavesY, ny), half(kHalfWavesX, nx)));
}

/// The same of the cavity itself.
double phase_of_cavity() {
  return kCourant * std::numbers::pi * std::hypot(double(kHalfWavesY) / (ny - 1), double(kHalfWavesX) / (nx - 1));
}

/// When a series crosses zero, upwards, in steps: the first time, the last time, and how many times.
struct Crossings {
  double first = 0.0, last = 0.0;
  int count = 0;
};
template <class T>
Crossings crossings(const std::vector<T>& series) {
  Crossings c;
  for (std::size_t step = 1; step < series.size(); ++step) {
    const double before = double(series[step - 1]), after = double(series[step]);
    if (!(before < 0.0 && after >= 0.0)) continue;
    c.last = double(step) - after / (after - before);
    if (c.count++ == 0) c.first = c.last;
  }
  return c;
}

/// The probe's frequency beside that of the scheme. A crossing is off by at most 0.07 phase^2 steps, since the sine is
/// taken for a line between two steps. And it is off by what rounding has done to the series, over the series' slope.
/// In the norm of all fields, where the mode has at most sqrt(points), a step's sums are off by 10 roundings at most: 4
/// in e of up to three times its part, 2 in each of h. The scheme keeps a norm that is this one within a factor of 2.4,
/// for courant = 0.5. So what a step is off stays as large, and a point has at most the norm of all.
template <class T>
double compare(const SystemRun<T>& run) {
  const Crossings c = crossings(run.recorded);
  if (c.count < 2) return std::numeric_limits<double>::infinity();
  const double expected = phase_of_scheme(), phase = 2.0 * std::numbers::pi * (c.count - 1) / (c.last - c.first);
  constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;
  const double norm = std::sqrt(double(ny * nx)), rounded = double(run.recorded.size()) * 2.4 * 10 * kUnit * norm;
  const double late = 0.07 * expected * expected + rounded / expected;
  std::printf("%-10s  resonance at %.7f of a step's circle; the scheme's is %.7f, that of the cavity %.7f\n", "",
              phase / (2.0 * std::numbers::pi), expected / (2.0 * std::numbers::pi),
              phase_of_cavity() / (2.0 * std::numbers::pi));
  return std::abs(phase / expected - 1.0) * (c.last - c.first) / (2.0 * late);
}

}  // namespace

/// Yee's staggered grid in two dimensions: e at points, hy between rows and hx between columns.
template <tessera::Element T>
SystemCase<T> cavity_case() {
  tessera::StencilSystem system({ny, nx}, tessera::kDType<T>);
  const auto e = system.state("e"), hx = system.state("hx"), hy = system.state("hy");
  system.update(hx) = hx - kCourant * (e.at({1, 0}) - e);
  system.update(hy) = hy + kCourant * (e.at({0, 1}) - e);
  system.update(e, {.stage = 1, .low = {1, 1}, .high = {ny - 1, nx - 1}}) =  // the walls keep 0
      e + kCourant * (hy[+1] - hy[+1].at({0, -1})) - kCourant * (hx[+1] - hx[+1].at({-1, 0}));
  system.record(e, {{{kProbeY, kProbeX, 0}}, {1.0}, {0}, 1}, 1);

  std::vector<T> mode;
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      const bool wall = y == 0 || x == 0 || y == ny - 1 || x == nx - 1;
      mode.push_back(wall ? T(0) : T(sine(kHalfWavesY, y, ny) * sine(kHalfWavesX, x, nx)));
    }
  const std::vector<T> zero(mode.size(), T(0));
  return {"cavity", std::move(system), kSteps, {{e, {mode}, true}, {hx, {zero}, true}, {hy, {zero}, true}}, {},
          1,        compare<T>};
}

template SystemCase<float> cavity_case();
template SystemCase<double> cavity_case();

}  // namespace showcase
