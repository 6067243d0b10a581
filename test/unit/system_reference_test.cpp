// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The interpreter of systems against what is known of them: hand-written loops, exact solutions of the difference
/// equations, orders of convergence.

#include "system_reference.hpp"

#include <tessera/system.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace tessera::test {

namespace {

constexpr long double kPi = std::numbers::pi_v<long double>;

Values made(std::size_t count, auto&& value) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return values;
}

void run(const StencilSystem& system, std::int64_t steps, SystemValues& fields, const SeriesValues& injected,
         SeriesValues& recorded) {
  const StencilSystem::Description description(system, steps);
  interpret(*description.get(), fields, injected, recorded);
}
void run(const StencilSystem& system, std::int64_t steps, SystemValues& fields) {
  SeriesValues recorded;
  run(system, steps, fields, {}, recorded);
}

long double largest_difference(const Values& a, const Values& b) {
  long double largest = 0.0L;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// u_tt = u_xx on [0, 1), periodic, n points, by order 8 in space: the error at time 1/4 of a wave of one period.
long double error_of_order_8(std::int64_t n) {
  const long double h = 1.0L / (long double)n, dt = 1.0L / 65536.0L;
  StencilSystem wave({n}, DType::f64);
  const auto u = wave.state("u", {.levels = 2, .boundary = Boundary::periodic});
  wave.update(u) = 2 * u - u[-1] + double(dt * dt / (h * h)) * u.under(taps::laplacian(1, 8));
  const auto at = [&](long double t) {
    return made(std::size_t(n), [&](std::size_t i) { return std::sin(2 * kPi * ((long double)i * h - t)); });
  };
  SystemValues fields{{at(0), at(-dt)}};
  run(wave, 16384, fields);
  return largest_difference(fields[0][0], at(0.25L));
}

}  // namespace

TEST_CASE("a wave by the interpreter is the loop that everybody writes", "[system]") {
  constexpr std::int64_t ny = 6, nx = 7, steps = 5;
  StencilSystem wave({ny, nx}, DType::f64);
  const auto u = wave.state("u", {.levels = 2});
  const auto c2 = wave.array("c2");
  const auto s = wave.profile("s", 0);
  wave.update(u) = s * (2 * u - u[-1] + c2 * u.under(taps::laplacian(2, 2)));
  wave.inject(u, {{{2, 3, 0}, {3, 3, 0}}, {1.0, 0.5}, {0, 0}, 1});
  wave.record(u, {{{1, 1, 0}, {4, 5, 0}}, {1.0, 2.0}, {0, 0}, 1});

  const auto place = [](std::size_t i) { return (long double)(i * i % 11) - 5; };
  SystemValues fields{{made(ny * nx, place), made(ny * nx, [&](auto i) { return place(i + 3); })},
                      {made(ny * nx, [](auto i) { return 0.1L + 0.01L * (long double)i; })},
                      {made(ny, [](auto i) { return 1.0L - 0.05L * (long double)i; })}};
  Values now = fields[0][0], before = fields[0][1];
  const SeriesValues injected{{{1}, {-2}, {3}, {0}, {0.5L}}};
  std::vector<long double> expected;
  for (int step = 0; step < steps; ++step) {
    Values next = now;
    for (int i = 1; i < ny - 1; ++i)
      for (int j = 1; j < nx - 1; ++j) {
        const std::size_t p = std::size_t(i * nx + j);
        const long double laplacian = now[p - nx] + now[p + nx] + now[p - 1] + now[p + 1] - 4 * now[p];
        next[p] = fields[2][0][std::size_t(i)] * (2 * now[p] - before[p] + fields[1][0][p] * laplacian);
      }
    next[2 * nx + 3] += injected[0][std::size_t(step)][0];
    next[3 * nx + 3] += 0.5L * injected[0][std::size_t(step)][0];
    expected.push_back(next[nx + 1] + 2 * next[4 * nx + 5]);
    before = now, now = next;
  }
  SeriesValues recorded;
  run(wave, steps, fields, injected, recorded);
  CHECK(largest_difference(fields[0][0], now) < 1e-13L);
  CHECK(largest_difference(fields[0][1], before) < 1e-13L);
  for (std::size_t step = 0; step < steps; ++step) CHECK(std::abs(recorded[0][step][0] - expected[step]) < 1e-13L);
}

TEST_CASE("a plane wave has the phase that the difference equation gives it, after 1000 steps", "[system]") {
  constexpr std::int64_t n = 32;
  const double courant2 = 0.2;
  StencilSystem wave({n}, DType::f64);
  const auto u = wave.state("u", {.levels = 2, .boundary = Boundary::periodic});
  const Taps laplacian = taps::laplacian(1, 8);
  wave.update(u) = 2 * u - u[-1] + courant2 * u.under(laplacian);
  const long double k = 2 * kPi * 3 / n;
  long double symbol = 0.0L;
  for (const Tap& tap : laplacian) symbol += (long double)tap.coefficient * std::cos(k * (long double)tap.offset[0]);
  const long double omega = std::acos(1 + courant2 * symbol / 2);
  const auto at = [&](long double step) {
    return made(n, [&](std::size_t i) { return std::cos(k * (long double)i - omega * step); });
  };
  SystemValues fields{{at(0), at(-1)}};
  run(wave, 1000, fields);
  CHECK(largest_difference(fields[0][0], at(1000)) < 1e-10L);
}

TEST_CASE("order 8 in space shows as order 8", "[system]") {
  const long double coarse = error_of_order_8(8), fine = error_of_order_8(16);
  CHECK(std::log2(coarse / fine) > 7.5L);
  CHECK(std::log2(coarse / fine) < 8.5L);
}

TEST_CASE("stages see what earlier ones made: a staggered pair keeps its energy", "[system]") {
  constexpr std::int64_t n = 20;
  const double courant = 0.5;
  StencilSystem maxwell({n}, DType::f64);
  const auto e = maxwell.state("e", {.boundary = Boundary::periodic});
  const auto h = maxwell.state("h", {.boundary = Boundary::periodic});
  maxwell.update(h) = h + courant * (e.at({1}) - e);
  maxwell.update(e, {.stage = 1}) = e + courant * (h[+1] - h[+1].at({-1}));
  SystemValues fields{{made(n, [](auto i) { return std::sin(2 * kPi * (long double)i / n); })}, {Values(n, 0.0L)}};
  // e^n . e^n + h^{n-1/2} . h^{n+1/2} is what the scheme keeps.
  const auto energy = [&](const Values& h_before, const Values& e_then, const Values& h_after) {
    long double sum = 0.0L;
    for (std::size_t i = 0; i < n; ++i) sum += e_then[i] * e_then[i] + h_before[i] * h_after[i];
    return sum;
  };
  std::vector<long double> energies;
  for (int step = 0; step < 50; ++step) {
    const Values e_then = fields[0][0], h_before = fields[1][0];
    run(maxwell, 1, fields);
    energies.push_back(energy(h_before, e_then, fields[1][0]));
  }
  for (const long double value : energies) CHECK(std::abs(value - energies[0]) < 1e-14L * n);
}

TEST_CASE("what an expression cannot be is refused", "[system]") {
  StencilSystem system({8, 8});
  const auto u = system.state("u"), v = system.state("v");
  const auto refusal = [](auto&& body) -> std::string {
    try {
      body();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      return error.what();
    }
    return "nothing was thrown";
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(refusal([&] { system.update(u) = (u + v) * (u - v); }),
             ContainsSubstring("two sums cannot be multiplied"));
  CHECK_THAT(refusal([&] {
               system.update(u) = u.at({1, 0}) * v.at({1, 0}) * u.at({0, 1}) * v.at({0, 1});
             }),
             ContainsSubstring("at most three values"));
  CHECK_THAT(refusal([&] { u.at({1}); }), ContainsSubstring("offset of 1 axes"));
  CHECK_THAT(refusal([&] { u.under(taps::laplacian(3)); }),
             ContainsSubstring("taps have rank 3, the system has 2 axes"));
  CHECK_THAT(refusal([&] { u.under(Taps(2)); }), ContainsSubstring("taps are empty"));
  CHECK_THAT(refusal([&] { StencilSystem({1, 2, 3, 4}); }), ContainsSubstring("extents of 4 axes"));
}

}  // namespace tessera::test
