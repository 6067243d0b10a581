// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Which taps are sums of a few products of factors, and that these keep the bound of dense sums.
#include "problems.hpp"

#include <tessera/plugin/tap_terms.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>

using namespace tessera;
using plugin::TapTerms;

namespace {

/// Taps of (2 radius + 1)² points, the value at each offset.
plugin::StencilProblem square(int radius, tessera_dtype dtype, const std::function<double(double, double)>& value) {
  Taps taps(2);
  for (int i = -radius; i <= radius; ++i)
    for (int j = -radius; j <= radius; ++j) taps.add({i, j, 0}, value(i, j));
  return test::packed_stencil(dtype, 2, 64, test::listed(taps), TESSERA_BOUNDARY_NEAREST);
}

double gaussian(double i, double j, double sigma) {
  return std::exp(-i * i / (2.0 * sigma * sigma)) * std::exp(-j * j / (2.0 * sigma * sigma));
}

auto sharpening(int radius) {
  return [=](double i, double j) { return (i == 0.0 && j == 0.0 ? 2.0 : 0.0) - gaussian(i, j, radius / 3.0) / 9.0; };
}

/// Checks the error of sums by the terms at each tap against that of dense sums, and that terms give the taps within
/// eight roundings.
void check_bound(const plugin::StencilProblem& p, const TapTerms& t, double unit) {
  const double taps = double(p.taps.size());
  const double of_passes = double(t.box.count[2] + t.count() * t.box.count[1]) + 2.0;
  for (const auto& [offset, tap] : p.taps) {
    long double sum = 0.0, magnitude = 0.0;
    for (const TapTerms::Factors& f : t.terms) {
      const long double along = f[2][std::size_t(offset[2] - t.box.first[2])];
      const long double product = f[1][std::size_t(offset[1] - t.box.first[1])] * along;
      sum += product, magnitude += std::abs(product);
    }
    CHECK(std::abs(sum - tap) <= 8.0 * unit * std::abs(tap));
    CHECK(of_passes * unit * magnitude + std::abs(sum - tap) <= (taps + 2.0) * unit * std::abs(tap));
  }
}

}  // namespace

TEST_CASE("a filter that sharpens is the sum of two products, within the bound of dense sums") {
  for (const int radius : {2, 7, 15}) {
    CAPTURE(radius);
    for (const auto& [dtype, unit] :
         {std::pair{TESSERA_F32, 0x1p-24}, {TESSERA_F64, 0x1p-53}, {TESSERA_BF16, 0x1p-24}}) {
      const auto p = square(radius, dtype, sharpening(radius));
      const auto terms = plugin::tap_terms(p);
      REQUIRE(terms.has_value());
      CHECK(terms->count() == 2);
      CHECK(terms->last == 1);
      check_bound(p, *terms, unit);
    }
  }
  const auto two = square(7, TESSERA_F32, [](double i, double j) { return gaussian(i, j, 1) + gaussian(i, j, 4) / 9; });
  REQUIRE(plugin::tap_terms(two).has_value());
  check_bound(two, *plugin::tap_terms(two), 0x1p-24);
}

TEST_CASE("a product has one term") {
  const auto terms = plugin::tap_terms(square(7, TESSERA_F32, [](double i, double j) { return gaussian(i, j, 3); }));
  REQUIRE(terms.has_value());
  CHECK(terms->count() == 1);
}

TEST_CASE("taps are not split that must be exact, are ordered, differences of larger products, or of a higher rank") {
  CHECK_FALSE(
      plugin::tap_terms(square(2, TESSERA_F32, [](double i, double j) { return i == 0 && j == 0 ? 24. : -1.; })));
  auto ordered = square(7, TESSERA_F32, sharpening(7));
  ordered.ordered = true;
  CHECK_FALSE(plugin::tap_terms(ordered).has_value());
  const auto laplacian = [](double i, double j) { return (i * i + j * j - 12.5001) * gaussian(i, j, 2.5); };
  CHECK_FALSE(plugin::tap_terms(square(7, TESSERA_F32, laplacian)).has_value());
  std::mt19937 random(1);
  const auto any = [&](double, double) { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); };
  CHECK_FALSE(plugin::tap_terms(square(7, TESSERA_F32, any)).has_value());
}
