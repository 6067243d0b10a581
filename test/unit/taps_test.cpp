// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The algebra of taps: known formulas, exactness on polynomials, sums and products, and what is refused.

#include "errors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace tessera::test {

namespace {

using Offset = std::array<std::int64_t, 3>;

std::map<Offset, double> as_map(const Taps& taps) {
  std::map<Offset, double> result;
  for (const Tap& tap : taps) CHECK(result.emplace(tap.offset, tap.coefficient).second);
  return result;
}

/// Weights along axis 0 of a 1D list, from -radius to radius.
std::vector<double> weights(const Taps& taps, std::int64_t radius) {
  std::vector<double> result(std::size_t(2 * radius + 1), 0.0);
  for (const Tap& tap : taps) result.at(std::size_t(tap.offset[0] + radius)) = tap.coefficient;
  return result;
}

/// Known formulas are fractions: the nearest doubles, up to the rounding of the last operation.
void check_weights(const Taps& taps, const std::vector<double>& expected) {
  const std::int64_t radius = std::int64_t(expected.size()) / 2;
  const auto computed = weights(taps, radius);
  REQUIRE(computed.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("weight " << i);
    CHECK(std::abs(computed[i] - expected[i]) <= 2e-16 * std::abs(expected[i]));
  }
}

double factorial(int n) { return n == 0 ? 1.0 : n * factorial(n - 1); }

}  // namespace

TEST_CASE("derivatives have the coefficients of the textbooks", "[taps]") {
  check_weights(taps::derivative(1, 0, 1, 2), {-0.5, 0, 0.5});
  check_weights(taps::derivative(1, 0, 1, 4), {1. / 12, -2. / 3, 0, 2. / 3, -1. / 12});
  check_weights(taps::derivative(1, 0, 1, 6), {-1. / 60, 3. / 20, -3. / 4, 0, 3. / 4, -3. / 20, 1. / 60});
  check_weights(taps::derivative(1, 0, 1, 8),
                {1. / 280, -4. / 105, 1. / 5, -4. / 5, 0, 4. / 5, -1. / 5, 4. / 105, -1. / 280});
  check_weights(taps::derivative(1, 0, 2, 2), {1, -2, 1});
  check_weights(taps::derivative(1, 0, 2, 4), {-1. / 12, 4. / 3, -5. / 2, 4. / 3, -1. / 12});
  check_weights(taps::derivative(1, 0, 2, 6), {1. / 90, -3. / 20, 3. / 2, -49. / 18, 3. / 2, -3. / 20, 1. / 90});
  check_weights(taps::derivative(1, 0, 2, 8),
                {-1. / 560, 8. / 315, -1. / 5, 8. / 5, -205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560});
  check_weights(taps::derivative(1, 0, 3, 2), {-0.5, 1, 0, -1, 0.5});
  check_weights(taps::derivative(1, 0, 4, 2), {1, -4, 6, -4, 1});
  check_weights(taps::derivative(1, 0, 4, 4), {-1. / 6, 2, -13. / 2, 28. / 3, -13. / 2, 2, -1. / 6});
}

TEST_CASE("derivatives are exact on polynomials up to their accuracy", "[taps]") {
  for (int order = 1; order <= 8; ++order)
    for (const int accuracy : {2, 4, 6, 8}) {
      INFO("order " << order << ", accuracy " << accuracy);
      const Taps taps = taps::derivative(1, 0, order, accuracy);
      for (int power = 0; power < order + accuracy; ++power) {
        long double sum = 0.0L, size = 0.0L;  // of x^power at 0
        for (const Tap& tap : taps) {
          const long double term = (long double)tap.coefficient * std::pow((long double)tap.offset[0], power);
          sum += term, size += std::abs(term);
        }
        const long double expected = power == order ? factorial(order) : 0.0;
        INFO("power " << power);
        CHECK(std::abs(sum - expected) <= 1.2e-16L * size);  // each coefficient is rounded once, to half an ulp
      }
    }
}

TEST_CASE("derivatives know axes, ranks and spacing", "[taps]") {
  const auto second = as_map(taps::derivative(3, 1, 2, 2, 0.5));
  CHECK(second == std::map<Offset, double>{{{0, -1, 0}, 4.0}, {{0, 0, 0}, -8.0}, {{0, 1, 0}, 4.0}});
  const auto slope = as_map(taps::derivative(2, 0, 1, 2, 4.0));
  CHECK(slope == std::map<Offset, double>{{{-1, 0, 0}, -0.125}, {{1, 0, 0}, 0.125}});
}

TEST_CASE("Laplacians, means and the identity", "[taps]") {
  CHECK(as_map(taps::laplacian(2)) ==
        std::map<Offset, double>{
            {{-1, 0, 0}, 1.0}, {{0, -1, 0}, 1.0}, {{0, 0, 0}, -4.0}, {{0, 1, 0}, 1.0}, {{1, 0, 0}, 1.0}});
  for (int rank = 1; rank <= 3; ++rank) {
    CHECK(taps::laplacian(rank, 8).size() == std::size_t(1 + 8 * rank));
    CHECK(as_map(taps::identity(rank)) == std::map<Offset, double>{{{0, 0, 0}, 1.0}});
    for (const int radius : {0, 1, 3}) {
      const Taps box = taps::box(rank, radius);
      const double count = std::pow(2.0 * radius + 1, rank);
      CHECK(box.size() == std::size_t(count));
      for (const Tap& tap : box) CHECK(tap.coefficient == 1.0 / count);
    }
  }
}

TEST_CASE("Gaussians are those of scipy.ndimage", "[taps]") {
  // exp(-x^2 / (2 sigma^2)) and its sum, by long double; the radius is 4 sigma, rounded.
  for (const double sigma : {0.3, 0.5, 1.0, 2.4, 20.0}) {
    const auto radius = std::int64_t(4.0 * sigma + 0.5);
    std::vector<long double> exact;
    for (std::int64_t x = -radius; x <= radius; ++x)
      exact.push_back(std::exp(-(long double)(x * x) / (2.0L * sigma * sigma)));
    const long double sum = std::accumulate(exact.begin(), exact.end(), 0.0L);
    const auto computed = weights(taps::gaussian(1, sigma), radius);
    CAPTURE(sigma);
    REQUIRE(taps::gaussian(1, sigma).size() == exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      // The exponent, of 8 and a little more at most, is off by 4 roundings: so is exp, relative to it. One more of exp
      // itself; the sum likewise, with an addition a weight, and the division.
      const long double bound = (2 * (4 * 9 + 2) + (long double)(exact.size()) + 1) * 0x1p-53L * exact[i] / sum;
      CHECK(std::abs(computed[i] - exact[i] / sum) <= bound);
      CHECK(computed[i] == computed[exact.size() - 1 - i]);
    }
  }
  CHECK(taps::gaussian(1, 2.5).size() == 21);   // int(4 * 2.5 + 0.5) = 10 to each side
  CHECK(taps::gaussian(1, 2.4).size() == 21);   // 10.1
  CHECK(taps::gaussian(1, 2.37).size() == 19);  // 9.98
  CHECK(as_map(taps::gaussian(2, 0.1)) == as_map(taps::identity(2)));
}

TEST_CASE("a Gaussian of several axes is the product of those along them", "[taps]") {
  const std::vector<double> line = weights(taps::gaussian(1, 0.8, 2), 2);
  for (int rank = 2; rank <= 3; ++rank) {
    const Taps taps = taps::gaussian(rank, 0.8, 2);
    CHECK(taps.size() == std::size_t(std::pow(5, rank)));
    double sum = 0.0;
    for (const Tap& tap : taps) {
      const auto along = [&](int axis) {
        return axis < rank ? line[std::size_t(tap.offset[std::size_t(axis)] + 2)] : 1;
      };
      CHECK(tap.coefficient == along(0) * along(1) * along(2));
      sum += tap.coefficient;
    }
    CHECK(std::abs(sum - 1.0) <= double(3 * 16 + 125) * 0x1p-53);  // a line's sum is 1 but for 16 roundings
  }
  CHECK(taps::gaussian(1, 1e200, 1).size() == 3);  // as a mean
  CHECK(as_map(taps::gaussian(1, 1e-200, 1)) == as_map(taps::identity(1)));
  CHECK(taps::gaussian(1, 1.0, 1024).size() < 100);  // those that underflow are left out
}

TEST_CASE("the factors up to which heat is stable are those that the command line's help tells", "[taps]") {
  const std::map<int, double> most = {{2, 0.5}, {4, 0.375}, {6, 0.33}, {8, 0.307}};
  for (const auto& [accuracy, constant] : most)
    for (int rank = 1; rank <= 3; ++rank) {
      constexpr double kSpacing = 0.5;
      const double factor = constant * kSpacing * kSpacing / rank;
      // What a step multiplies a checkerboard by: of all waves the one that grows first.
      const auto growth = [&](double f) {
        double sum = 0.0;
        for (const Tap& tap : taps::identity(rank) + f * taps::laplacian(rank, accuracy, kSpacing))
          sum += (tap.offset[0] + tap.offset[1] + tap.offset[2]) % 2 == 0 ? tap.coefficient : -tap.coefficient;
        return sum;
      };
      CAPTURE(accuracy, rank);
      CHECK(growth(factor) >= -1.0 - 1e-14);  // up to 25 terms that add up to 3: 25 * 3 * 2^-53
      CHECK(growth(1.01 * factor) < -1.0);
    }
}

TEST_CASE("taps can be added, subtracted and scaled", "[taps]") {
  const Taps a(2, {{{0, 1, 0}, 2.0}, {{0, 0, 0}, 1.0}}), b(2, {{{0, 1, 0}, 0.5}, {{-1, 0, 0}, 3.0}});
  CHECK(as_map(a + b) == std::map<Offset, double>{{{-1, 0, 0}, 3.0}, {{0, 0, 0}, 1.0}, {{0, 1, 0}, 2.5}});
  CHECK(as_map(a - b) == std::map<Offset, double>{{{-1, 0, 0}, -3.0}, {{0, 0, 0}, 1.0}, {{0, 1, 0}, 1.5}});
  CHECK(as_map(2.0 * a) == std::map<Offset, double>{{{0, 0, 0}, 2.0}, {{0, 1, 0}, 4.0}});
  CHECK(as_map(a * -1.0) == std::map<Offset, double>{{{0, 0, 0}, -1.0}, {{0, 1, 0}, -2.0}});
  Taps doubled = a;
  doubled += doubled;
  CHECK(as_map(doubled) == as_map(2.0 * a));
  CHECK(as_map(Taps(1, {{{2, 0, 0}, 1.0}, {{2, 0, 0}, 4.0}})) == std::map<Offset, double>{{{2, 0, 0}, 5.0}});
}

TEST_CASE("taps from a dense array", "[taps]") {
  const Taps sobel = taps::from_dense({-1, 0, 1, -2, 0, 2, -1, 0, 1}, {3, 3});
  CHECK(as_map(sobel) == std::map<Offset, double>{{{-1, -1, 0}, -1.0},
                                                  {{-1, 1, 0}, 1.0},
                                                  {{0, -1, 0}, -2.0},
                                                  {{0, 1, 0}, 2.0},
                                                  {{1, -1, 0}, -1.0},
                                                  {{1, 1, 0}, 1.0}});
  CHECK(as_map(taps::from_dense({1, 2, 3, 4}, {4})) ==
        std::map<Offset, double>{{{-2, 0, 0}, 1.0}, {{-1, 0, 0}, 2.0}, {{0, 0, 0}, 3.0}, {{1, 0, 0}, 4.0}});
  CHECK(as_map(taps::from_dense({5, 6}, {1, 2, 1})) == std::map<Offset, double>{{{0, -1, 0}, 5.0}, {{0, 0, 0}, 6.0}});
}

TEST_CASE("sums in any order are those of one term after the other", "[taps]") {
  // Coefficients whose sum depends on the order.
  const double big = 1e16;
  std::vector<Tap> terms;
  for (std::int64_t i = 0; i < 60; ++i)
    terms.push_back({{i * 7 % 5, i * 11 % 3 - 1, 0}, i % 3 == 0 ? big : 1.0 + double(i)});
  std::map<Offset, double> expected;
  Taps one(2), sum(2);
  for (const Tap& tap : terms) {
    expected[tap.offset] += tap.coefficient;
    one.add(tap.offset, tap.coefficient);
    sum += Taps(2, {tap});
  }
  CHECK(as_map(one) == expected);
  CHECK(as_map(sum) == expected);
  CHECK(std::is_sorted(sum.begin(), sum.end(), [](const Tap& a, const Tap& b) { return a.offset < b.offset; }));
  const Taps low(2, {{{-9, 0, 0}, 1.0}, {{0, 0, 0}, 2.0}}), high(2, {{{9, 0, 0}, 4.0}});
  for (const Taps& other : {low, high, Taps(2), one}) {
    auto all = expected;
    for (const Tap& tap : other) all[tap.offset] += tap.coefficient;
    CHECK(as_map(one + other) == all);
  }
}

TEST_CASE("many taps are built and added in moments", "[taps]") {
  const auto start = std::chrono::steady_clock::now();
  constexpr std::int64_t kCount = 200000;
  Taps sorted(2), appended(2), halves(2);
  for (std::int64_t i = 0; i < kCount; ++i) sorted.add({i / 500, i % 500, 0}, 1.0);
  for (std::int64_t i = 0; i < kCount; ++i) appended += Taps(2, {{{i / 500, i % 500, 0}, 2.0}});
  for (std::int64_t i = 1; i < kCount; i += 2) halves.add({i / 500, i % 500, 0}, 1.0);
  CHECK((sorted + appended + halves).size() == std::size_t(kCount));
  CHECK((halves + sorted).size() == std::size_t(kCount));
  CHECK(taps::box(2, 223).size() == 447 * 447);
  // Quadratic work would take minutes.
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 10.0);
}

TEST_CASE("taps that cannot be added leave the others as they were", "[taps]") {
  Taps taps = taps::laplacian(2);
  const auto before = as_map(taps);
  CHECK_THROWS_AS(taps.add({0, 0, 1}, 1.0), Error);
  CHECK_THROWS_AS(taps += taps::identity(3), Error);
  CHECK(as_map(taps) == before);
}

TEST_CASE("bad taps are refused", "[taps]") {
  const auto refused = [](const char* what, const std::vector<std::string>& parts, auto&& body) {
    check_throws(what, ErrorCode::invalid_argument, parts, body);
  };
  CHECK_THROWS_WITH(taps::derivative(0, 0, 2, 2), Catch::Matchers::StartsWith("rank = 0"));
  CHECK_THROWS_WITH(taps::derivative(2, 2, 2, 2), Catch::Matchers::StartsWith("axis = 2"));
  refused("rank 0", {"rank", "0"}, [] { Taps taps(0); });
  refused("rank 4", {"rank", "4"}, [] { Taps taps(4); });
  refused("an offset beyond the rank", {"axis 1", "5", "rank 1"}, [] { Taps taps(1, {{{0, 5, 0}, 1.0}}); });
  refused("two ranks", {"2", "3"}, [] { taps::identity(2) + taps::identity(3); });
  refused("a negative axis", {"axis", "-1", "[0, 2)"}, [] { taps::derivative(2, -1, 1, 2); });
  refused("an axis too many", {"axis", "2", "[0, 2)"}, [] { taps::derivative(2, 2, 1, 2); });
  refused("order 0", {"order", "0", "[1, 8]"}, [] { taps::derivative(1, 0, 0, 2); });
  refused("order 9", {"order", "9"}, [] { taps::derivative(1, 0, 9, 2); });
  refused("accuracy 3", {"accuracy", "3", "2, 4, 6 or 8"}, [] { taps::derivative(1, 0, 1, 3); });
  refused("accuracy 0", {"accuracy", "0"}, [] { taps::laplacian(1, 0); });
  refused("accuracy 10", {"accuracy", "10"}, [] { taps::laplacian(1, 10); });
  refused("spacing 0", {"spacing", "positive"}, [] { taps::derivative(1, 0, 1, 2, 0.0); });
  refused("a small spacing below 0", {"spacing = -1e-09: "}, [] { taps::derivative(1, 0, 1, 2, -1e-9); });
  refused("spacing NaN", {"spacing", "positive"}, [] { taps::derivative(1, 0, 1, 2, NAN); });
  refused("spacing infinite", {"spacing", "finite"}, [] { taps::derivative(1, 0, 1, 2, INFINITY); });
  refused("a negative radius", {"radius", "-1"}, [] { taps::box(2, -1); });
  refused("a radius beyond any", {"radius", "1025", "[0, 1024]"}, [] { taps::box(1, 1025); });
  refused("a box of gigabytes", {"radius", "128", "2^24", "127"}, [] { taps::box(3, 128); });
  refused("a box of rank 4", {"rank", "4"}, [] { taps::box(4, 1); });
  refused("sigma 0", {"sigma = 0: must be positive and finite"}, [] { taps::gaussian(1, 0.0); });
  refused("sigma NaN", {"sigma", "positive"}, [] { taps::gaussian(1, NAN); });
  refused("sigma infinite", {"sigma", "finite"}, [] { taps::gaussian(1, INFINITY, 1); });
  refused("sigma beyond any radius", {"sigma = 257", "4 sigma", "1024"}, [] { taps::gaussian(1, 257.0); });
  refused("a Gaussian of a negative radius", {"radius", "-1"}, [] { taps::gaussian(1, 1.0, -1); });
  refused("a Gaussian of gigabytes", {"radius = 128", "2^24"}, [] { taps::gaussian(3, 32.0); });
  refused("a Gaussian of rank 4", {"rank", "4"}, [] { taps::gaussian(4, 1.0); });
  refused("too few dense values", {"5", "extents"}, [] { taps::from_dense({1, 2, 3, 4, 5}, {2, 3}); });
  refused("an extent of 0", {"extent", "0"}, [] { taps::from_dense({1}, {0}); });
  refused("dense values of rank 4", {"rank", "4"}, [] { taps::from_dense({1}, {1, 1, 1, 1}); });
}

}  // namespace tessera::test
