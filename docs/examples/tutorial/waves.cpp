// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's third chapter: a shot through layers of rock. A source sends a wave; a line of receivers records it.

#include <tessera/tessera.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t nz = 300, nx = 400, kSteps = 1202;
constexpr double h = 10.0, dt = 1e-3;                                 // metres between points, seconds of a step
constexpr double kUpper = 2000.0, kMiddle = 2600.0, kLower = 3400.0;  // metres a second in the layers, from above
constexpr std::int64_t kSponge = 60;                                  // points
constexpr std::int64_t kSourceZ = 80, kSourceX = 120, kReceivers = 40, kSpacing = 5;
constexpr double kPeak = 15.0;  // Hz, the strongest frequency of the source

/// Ricker's wavelet.
double ricker(double t) {
  const double x = std::pow(std::numbers::pi * kPeak * (t - 1.2 / kPeak), 2);
  return (1.0 - 2.0 * x) * std::exp(-x);
}

double speed(std::int64_t z) { return z < 170 ? kUpper : z < 230 ? kMiddle : kLower; }

/// (c dt / h)^2 at each point.
std::vector<float> layers() {
  std::vector<float> values;
  for (std::int64_t z = 0; z < nz; ++z) values.insert(values.end(), nx, float(std::pow(speed(z) * dt / h, 2)));
  return values;
}

/// The part of its change that a wave loses in each step: none inside, more and more towards both ends of an axis.
std::vector<float> sponge(std::int64_t extent) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < extent; ++i) {
    const double depth = std::max(0.0, 1.0 - double(std::min(i, extent - 1 - i)) / double(kSponge));
    values.push_back(float(0.08 * depth * depth));
  }
  return values;
}

/// The equation, and its fields.
struct Wave {
  tessera::StencilSystem system{{nz, nx}};
  tessera::SystemField u = system.state("u", {.levels = 2}), c2 = system.array("c2");
  tessera::SystemField dz = system.profile("dz", 0), dx = system.profile("dx", 1);

  Wave() {
    const tessera::Expression wave = 2 * u - u[-1] + c2 * u.under(tessera::taps::laplacian(2, 8));
    system.update(u) = wave - dz * (u - u[-1]) - dx * (u - u[-1]);
    system.inject(u, {.points = {{kSourceZ, kSourceX}}});
    tessera::SeriesPoints receivers;
    for (std::int64_t i = 0; i < kReceivers; ++i) receivers.points.push_back({kSourceZ, kSourceX + kSpacing * i});
    system.record(u, receivers);
  }
};

/// What the receivers record, kSteps rows of kReceivers, and the last wave field.
struct Shot {
  std::vector<float> traces = std::vector<float>(kSteps * kReceivers), field = std::vector<float>(nz * nx);
};

/// Steps the wave by executions of the plan.
Shot shoot(const Wave& wave, tessera::SystemPlan& plan, std::int64_t executions) {
  const std::vector<float> c2 = layers(), dz = sponge(nz), dx = sponge(nx);
  std::vector<float> source;
  for (std::int64_t step = 0; step < kSteps; ++step) source.push_back(float(ricker(double(step) * dt)));
  Shot shot;
  std::vector<float> now(nz * nx, 0.0f), before(nz * nx, 0.0f);
  for (std::int64_t i = 0; i < executions; ++i) {
    plan.execute({{wave.u, now, before}, {wave.c2, c2}, {wave.dz, dz}, {wave.dx, dx}},
                 {.injected = {source}, .recorded = {shot.traces}, .first_step = i * kSteps / executions});
    if (plan.newest(wave.u) == 1) std::swap(now, before);
  }
  shot.field = now;
  return shot;
}

/// When the direct wave is largest at a distance r. In an endless plane it is, by the Green function of the plane,
///     u(r, t) = integral of s(t - r cosh(a) / c) da / (2 pi c^2), a >= 0
double arrival(double distance) {
  constexpr double kSlice = 1e-3;
  std::pair<double, double> largest{0.0, 0.0};  // value, time
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const double t = double(step) * dt;
    double sum = 0.0;
    for (double a = kSlice / 2; std::cosh(a) * distance / kUpper <= t; a += kSlice)
      sum += ricker(t - std::cosh(a) * distance / kUpper);
    largest = std::max(largest, {sum, t});
  }
  return largest.second;
}

/// Whether the direct wave arrives when it should. A step of second order in time makes a wave of frequency f faster by
/// (2 pi f dt)^2 / 24; order 8 in space adds next to nothing. Both times are multiples of dt: one more of it.
bool in_time(const Shot& shot, std::int64_t receiver) {
  std::pair<float, double> largest{0.0f, 0.0};
  for (std::int64_t step = 0; step < kSteps; ++step)
    largest = std::max(largest, {shot.traces[std::size_t(step * kReceivers + receiver)], double(step + 1) * dt});
  const double distance = double(receiver * kSpacing) * h, expected = arrival(distance);
  const double faster = std::pow(2.0 * std::numbers::pi * kPeak * dt, 2) / 24.0;
  const double tolerance = distance / kUpper * faster + 1.001 * dt;
  std::printf("%4.0f m: %.3f s, expected %.3f +- %.4f s\n", distance, largest.second, expected, tolerance);
  return std::abs(largest.second - expected) <= tolerance;
}

}  // namespace

int main() {
  const Wave wave;
  tessera::SystemPlan whole(wave.system, kSteps);
  std::puts(whole.describe().c_str());
  const Shot at_once = shoot(wave, whole, 1);

  // The same algorithm again, in two executions.
  tessera::SystemPlan half(wave.system, kSteps / 2, {.algorithm = whole.backend() + "/" + whole.algorithm()});
  const Shot in_two = shoot(wave, half, 2);
  const bool same = at_once.traces == in_two.traces && at_once.field == in_two.field;

  const bool finite = std::all_of(at_once.field.begin(), at_once.field.end(), [](float x) { return std::isfinite(x); });
  return same && finite && in_time(at_once, 20) && in_time(at_once, 32) ? 0 : 1;
}
