// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "bounded.hpp"
#include "systems.hpp"

#include <algorithm>
#include <array>

namespace showcase {
namespace {

constexpr std::int64_t n = kReactionSide, kSteps = kReactionSteps;
constexpr double kSpreadU = 0.16, kSpreadV = 0.08, kFeed = 0.037, kKill = 0.06;  // as in J. Pearson, Science 261, 1993

/// The steps behind the timed ones, by a plain loop.
template <class T>
double compare(const SystemRun<T>& run, const tessera::Taps& laplacian) {
  auto u = bounded(run.before[0][0]), v = bounded(run.before[1][0]);
  for (std::int64_t step = 0; step < kCheckedSteps; ++step) {
    auto next_u = u, next_v = v;
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x) {
        const auto at = std::size_t(y * n + x);
        BoundedSum<T> sum_u, sum_v;
        for (const tessera::Tap& tap : laplacian) {
          const auto there = std::size_t((y + tap.offset[0] + n) % n * n + (x + tap.offset[1] + n) % n);
          sum_u.add(kSpreadU * tap.coefficient, {u[there]});
          sum_v.add(kSpreadV * tap.coefficient, {v[there]});
        }
        sum_u.add(1, {u[at]}).add(-1, {u[at], v[at], v[at]}).add(kFeed, {}).add(-kFeed, {u[at]});
        sum_v.add(1, {v[at]}).add(1, {u[at], v[at], v[at]}).add(-kFeed - kKill, {v[at]});
        next_u[at] = sum_u.get(), next_v[at] = sum_v.get();
      }
    u = std::move(next_u), v = std::move(next_v);
  }
  return std::max(largest_ratio(run.after[0][0], u), largest_ratio(run.after[1][0], v));
}

}  // namespace

template <tessera::Element T>
SystemCase<T> reaction_case() {
  tessera::StencilSystem system({n, n}, tessera::kDType<T>);
  const tessera::FieldOptions ring{.levels = 2, .boundary = tessera::Boundary::periodic};
  const auto u = system.state("u", ring), v = system.state("v", ring);
  const tessera::Taps laplacian = tessera::taps::laplacian(2);
  system.update(u) = kSpreadU * u.under(laplacian) + u - u * v * v + kFeed - kFeed * u;
  system.update(v) = kSpreadV * v.under(laplacian) + v + u * v * v - (kFeed + kKill) * v;

  std::vector<T> much(std::size_t(n * n), T(1)), little(std::size_t(n * n), T(0));
  for (const auto& [row, column] : {std::array{40, 60}, std::array{120, 30}, std::array{90, 130}, std::array{150, 150}})
    for (std::int64_t y = row; y < row + 12; ++y)
      for (std::int64_t x = column; x < column + 8; ++x)
        much[std::size_t(y * n + x)] = T(0.5), little[std::size_t(y * n + x)] = T(0.25);
  return {"reaction",
          std::move(system),
          kSteps,
          {{u, {much, much}, true}, {v, {little, little}, true}},
          {},
          0,
          [laplacian](const SystemRun<T>& run) { return compare(run, laplacian); }};
}

template SystemCase<float> reaction_case();
template SystemCase<double> reaction_case();

}  // namespace showcase
