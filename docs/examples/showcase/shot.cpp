// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "bounded.hpp"
#include "systems.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace showcase {
namespace {

constexpr std::int64_t nz = kShotRows, nx = kShotColumns, kSponge = 60, kSourceZ = 80, kSourceX = kShotSource;
constexpr double kSpacing = kShotSpacing, kTimeStep = kShotTimeStep, kPeak = 15.0;  // metres, seconds, Hz

/// Ricker's wavelet.
double ricker(double t) {
  const double x = std::pow(std::numbers::pi * kPeak * (t - 1.2 / kPeak), 2);
  return (1.0 - 2.0 * x) * std::exp(-x);
}

/// Metres a second: two layers below the one of the source, the lower border rising to the right.
double speed(std::int64_t z, std::int64_t x) { return z < 150 ? 2000.0 : z < 240 - x / 8 ? 2600.0 : 3400.0; }

template <class T>
std::vector<T> sponge(std::int64_t extent) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < extent; ++i) {
    const double depth = std::max(0.0, 1.0 - double(std::min(i, extent - 1 - i)) / double(kSponge));
    values.push_back(T(0.08 * depth * depth));
  }
  return values;
}

/// The steps behind the timed ones, by a plain loop. Points within the reach of an edge keep their value.
template <class T>
double compare(const SystemRun<T>& run, const tessera::Taps& laplacian) {
  constexpr std::int64_t kReach = 4;
  const auto c2 = bounded(run.before[1][0]), dz = bounded(run.before[2][0]), dx = bounded(run.before[3][0]);
  auto now = bounded(run.before[0][0]), before = bounded(run.before[0][1]);
  for (std::int64_t step = 0; step < kCheckedSteps; ++step) {
    auto next = now;
    for (std::int64_t z = kReach; z < nz - kReach; ++z)
      for (std::int64_t x = kReach; x < nx - kReach; ++x) {
        const auto at = std::size_t(z * nx + x);
        BoundedSum<T> sum;
        sum.add(2, {now[at]}).add(-1, {before[at]});
        for (const auto& d : {dz[std::size_t(z)], dx[std::size_t(x)]})
          sum.add(-1, {d, now[at]}).add(1, {d, before[at]});
        for (const tessera::Tap& tap : laplacian)
          sum.add(tap.coefficient, {c2[at], now[at + std::size_t(tap.offset[0] * nx + tap.offset[1])]});
        next[at] = sum.get();
      }
    before = std::move(now);
    now = std::move(next);  // the source has been silent for long
  }
  return std::max(largest_ratio(run.after[0][0], now), largest_ratio(run.after[0][1], before));
}

}  // namespace

template <tessera::Element T>
SystemCase<T> shot_case() {
  tessera::StencilSystem system({nz, nx}, tessera::kDType<T>);
  const auto u = system.state("u", {.levels = 2}), c2 = system.array("c2");
  const auto dz = system.profile("dz", 0), dx = system.profile("dx", 1);
  const tessera::Taps laplacian = tessera::taps::laplacian(2, 8);
  const tessera::Expression wave = 2 * u - u[-1] + c2 * u.under(laplacian);
  system.update(u) = wave - dz * (u - u[-1]) - dx * (u - u[-1]);
  system.inject(u, {{{kSourceZ, kSourceX, 0}}, {1.0}, {0}, 1});
  tessera::SeriesPoints receivers;
  receivers.series_count = kShotReceivers;
  for (std::int64_t i = 0; i < kShotReceivers; ++i) {
    receivers.points.push_back({kSourceZ, kSourceX + i, 0});
    receivers.weights.push_back(1.0);
    receivers.series.push_back(i);
  }
  system.record(u, receivers);

  const std::vector<T> zero(std::size_t(nz * nx), T(0));
  std::vector<T> speeds, source;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t x = 0; x < nx; ++x) speeds.push_back(T(std::pow(speed(z, x) * kTimeStep / kSpacing, 2)));
  for (std::int64_t step = 0; step < kShotSteps + kCheckedSteps; ++step)
    source.push_back(step < kShotSteps ? T(ricker(double(step) * kTimeStep)) : T(0));
  return {"shot",
          std::move(system),
          kShotSteps,
          {{u, {zero, zero}, true}, {c2, {speeds}}, {dz, {sponge<T>(nz)}}, {dx, {sponge<T>(nx)}}},
          std::move(source),
          kShotReceivers,
          [laplacian](const SystemRun<T>& run) { return compare(run, laplacian); }};
}

template SystemCase<float> shot_case();
template SystemCase<double> shot_case();

}  // namespace showcase
