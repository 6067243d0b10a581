// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Which taps are products of a factor for each axis, and what the factors are.
#include "problems.hpp"

#include <tessera/plugin/tap_factors.hpp>

#include <stencil_cases.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

using namespace tessera;
using plugin::TapFactors;

namespace {

plugin::StencilProblem problem(const Taps& list, int rank, tessera_dtype dtype = TESSERA_F64) {
  return test::packed_stencil(dtype, rank, 64, test::listed(list), TESSERA_BOUNDARY_NEAREST);
}

using Filter = std::vector<std::vector<double>>;

Taps plane(const Filter& rows) {
  Taps taps(2);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows[i].size(); ++j)
      taps.add({std::int64_t(i) - 3, std::int64_t(j) + 1, 0}, rows[i][j]);
  return taps;
}

std::optional<TapFactors> factors(const Filter& rows, tessera_dtype dtype = TESSERA_F64) {
  return plugin::tap_factors(problem(plane(rows), 2, dtype));
}

/// The Gaussian of a radius, whose sum is 1; each tap is rounded to S.
template <class S>
Filter gaussian(int radius, double sigma) {
  const auto one = [&](int i) { return std::exp(-0.5 * i * i / sigma / sigma); };
  double sum = 0.0;
  for (int i = -radius; i <= radius; ++i) sum += one(i);
  Filter rows;
  for (int i = -radius; i <= radius; ++i) {
    rows.emplace_back();
    for (int j = -radius; j <= radius; ++j) rows.back().push_back(double(S(one(i) / sum * (one(j) / sum))));
  }
  return rows;
}

double magnitude(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0, [](double sum, double n) { return sum + std::abs(n); });
}

}  // namespace

TEST_CASE("factors of integers are exact, and the inner ones add up to no more than one") {
  const auto f = factors({{1, 4, 6, 4, 1}, {-2, -8, -12, -8, -2}, {3, 12, 18, 12, 3}});
  REQUIRE(f.has_value());
  CHECK(f->last == 1);
  CHECK(f->box.count == plugin::Index3{1, 3, 5});
  CHECK(f->box.first == plugin::Index3{0, -3, 1});
  CHECK(f->factor[0] == std::vector<double>{1});
  CHECK(f->factor[1] == std::vector<double>{16, -32, 48});
  CHECK(f->factor[2] == std::vector<double>{1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16});
}

TEST_CASE("factors of products in any rank give the taps") {
  for (const auto weights : {test::Weights::integer, test::Weights::contracting})
    for (const test::Offset& count : {test::Offset{2, 3, 4}, test::Offset{5, 1, 7}, test::Offset{1, 6, 2}}) {
      const Taps taps = test::product(3, {-1, 0, 2}, count, weights);
      const auto f = plugin::tap_factors(problem(taps, 3));
      REQUIRE(f.has_value());
      for (const Tap& tap : taps) {
        double product = 1.0;
        for (std::size_t axis = 0; axis < 3; ++axis)
          product *= f->factor[axis][std::size_t(tap.offset[axis] - f->box.first[axis])];
        CHECK(std::abs(product - tap.coefficient) <= 8 * 1.2e-16 * std::abs(tap.coefficient));
        if (weights == test::Weights::integer) CHECK(product == tap.coefficient);
      }
      for (int axis = f->last + 1; axis < 3; ++axis) CHECK(magnitude(f->factor[std::size_t(axis)]) <= 1.0);
    }
}

TEST_CASE("rounded tables of a Gaussian have factors in their type, not in a longer one") {
  for (const int radius : {2, 7, 15}) {
    CHECK(factors(gaussian<double>(radius, radius / 3.0)).has_value());
    CHECK(factors(gaussian<float>(radius, radius / 3.0), TESSERA_F32).has_value());
    CHECK(factors(gaussian<float>(radius, radius / 3.0), TESSERA_BF16).has_value());
    CHECK_FALSE(factors(gaussian<float>(radius, radius / 3.0)).has_value());
  }
  // Factors that f32 holds as subnormal numbers, or not at all, have lost their digits.
  CHECK_FALSE(factors(gaussian<double>(20, 1.5), TESSERA_F32).has_value());
}

TEST_CASE("taps that are no products have none") {
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK_FALSE(factors({{0, 1, 0}, {1, -4, 1}, {0, 1, 0}}).has_value());
  CHECK_FALSE(factors({{1, 2, 1}, {2, 4, 2}, {1, 2, 1 + 1e-9}}).has_value());
  CHECK_FALSE(factors({{0, 0}, {0, 0}}).has_value());
  CHECK_FALSE(factors({{1, 1}, {1, infinite}}).has_value());
  CHECK_FALSE(factors({{1, 2, 3}}).has_value());  // one axis
  CHECK(factors({{1, 0, -1}, {2, 0, -2}, {1, 0, -1}}).has_value());
}

TEST_CASE("neither taps with a hole nor ordered sums are taken for products") {
  Taps sobel(2);
  for (const std::int64_t i : {-1, 0, 1})
    for (const std::int64_t j : {-1, 1}) sobel.add({i, j, 0}, double(j * (2 - i * i)));
  CHECK_FALSE(plugin::tap_factors(problem(sobel, 2)).has_value());
  plugin::StencilProblem ordered = problem(plane({{1, 2, 1}, {2, 4, 2}, {1, 2, 1}}), 2);
  CHECK(plugin::tap_factors(ordered).has_value());
  ordered.ordered = true;
  CHECK_FALSE(plugin::tap_factors(ordered).has_value());
}
