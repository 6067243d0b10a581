// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Floating-point modes of the caller change no bit of a product, and are there afterwards.

#include "entries.hpp"
#include "floating_modes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstring>
#include <limits>
#include <vector>

namespace {

using namespace tessera::test;

/// 8 x 8 products.
template <class T>
struct Square {
  static constexpr std::int64_t kN = 8;
  std::vector<T> a, b, c;
  T alpha, beta = T(0.7);

  Square(T factor, T unit_a, T unit_c) : alpha(factor) {
    for (int i = 0; i < kN * kN; ++i) {
      a.push_back(T(i % 13 - 6) / 7 * unit_a), b.push_back(T(i % 11 - 5) / 9);
      c.push_back(T(i % 7 - 3) / 5 * unit_c);
    }
  }

  std::vector<T> product(const Entry<T>& entry, const FloatingMode* mode) const {
    std::vector<T> out = c;
    Group<T> g;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = kN;
    g.stride_a = g.stride_b = g.stride_c = kN * kN;
    g.alpha = alpha, g.beta = beta;
    g.a = {a.data()}, g.b = {b.data()}, g.c = {out.data()};
    const Call<T> call{kColumnMajor, {g}, 1};
    in_mode(mode, [&] { entry(call); });
    return out;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("the caller's floating-point mode changes no bit", "[blas]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const T tiny = 4096 * Limits::denorm_min(), small = tiny / 8, huge = T(1) / Limits::min();
  // Numbers of any size, subnormal elements, a subnormal alpha and a subnormal beta, whose products with large elements
  // are not small.
  Square<T> small_beta(T(1) / 3, 1, huge);
  small_beta.beta = small;
  for (const Square<T>& s :
       {Square<T>(T(1) / 3, 1, 1), Square<T>(T(1) / 3, tiny, tiny), Square<T>(small, huge, tiny), small_beta})
    for (const Entry<T>& entry : entries<T>(kLetter<T>)) {
      const std::vector<T> expected = s.product(entry, nullptr);
      REQUIRE(expected != s.c);
      for (const FloatingMode& mode : floating_modes()) {
        INFO(entry.name << ", " << mode.name << ", alpha = " << s.alpha << ", beta = " << s.beta);
        const std::vector<T> found = s.product(entry, &mode);
        CHECK(std::memcmp(found.data(), expected.data(), expected.size() * sizeof(T)) == 0);
      }
    }
}
