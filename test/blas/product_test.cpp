// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Random products through every entry point, against a reference in higher precision.

#include "random_calls.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

namespace {

using namespace tessera::test;

/// Elements that are not within the bound, and those beside C's that have changed.
template <class T>
int wrong(const Operands<T>& o) {
  const auto expected = gemm_reference<T>(o.desc, o.alpha, o.a.data(), o.b.data(), o.beta, o.before.data(), false);
  return o.wrong([&](std::size_t e, T element) { return acceptable(element, expected.value[e], expected.bound[e]); });
}

TEMPLATE_TEST_CASE("random products through every entry point are right", "[blas]", float, double) {
  constexpr int kTrials = 150;
  for (const Entry<TestType>& entry : entries<TestType>(kLetter<TestType>)) {
    for (int i = 0; i < kTrials; ++i) {
      const std::string stream = entry.name + " " + std::to_string(i);
      Random random(stream);
      INFO("TESSERA_TEST_SEED=" << seed() << ", call " << stream);
      REQUIRE(trial(entry, random, wrong<TestType>) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("batches that no plan has are done one after another", "[blas]", float, double) {
  using T = TestType;
  // Each C is the A of the next product, and each lies before the last: negative strides.
  for (const Entry<T>& entry : entries<T>(kLetter<T>)) {
    if (entry.form != Form::strided) continue;
    INFO(entry.name);
    std::vector<T> chain = {0, 0, 0, 2};
    const T three = 3;
    Group<T> g;
    g.a = {chain.data() + 3}, g.b = {&three}, g.c = {chain.data() + 2};
    g.stride_a = -1, g.stride_b = 0, g.stride_c = -1, g.size = 3;
    entry({kColumnMajor, {g}, 1});
    REQUIRE(chain == std::vector<T>{54, 18, 6, 2});
    // All into one C.
    T sum = 1;
    g.a = {chain.data()}, g.c = {&sum}, g.stride_a = 1, g.stride_c = 0, g.size = 4, g.beta = 1;
    entry({kColumnMajor, {g}, 1});
    REQUIRE(sum == T(1 + 3 * (54 + 18 + 6 + 2)));
  }
}

TEMPLATE_TEST_CASE("integers of 64 bits are read as such", "[blas]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const Entry<T>& entry : entries<T>(kLetter<T>)) {
    if (!entry.wide) continue;
    INFO(entry.name);
    const T a = 3, b = 5;
    T c = 0;
    Group<T> g;  // one column each, so that nobody follows the distances
    g.a = {&a}, g.b = {&b}, g.c = {&c};
    g.lda = g.ldb = g.ldc = std::int64_t{1} << 40;
    entry({kColumnMajor, {g}, 1});
    REQUIRE(c == T(15));
  }
}

TEMPLATE_TEST_CASE("matrices that are not read may be anything", "[blas]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const Entry<T>& entry : entries<T>(kLetter<T>)) {
    INFO(entry.name);
    std::vector<T> c = {1, 2, 3, 4};
    Group<T> g;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 2;
    g.alpha = 0, g.beta = 2;
    g.stride_a = g.stride_b = g.stride_c = 4;
    g.a = {nullptr}, g.b = {c.data() + 1}, g.c = {c.data()};
    entry({kColumnMajor, {g}, 1});
    REQUIRE(c == std::vector<T>{2, 4, 6, 8});
    g.alpha = 1, g.k = 0;
    entry({kColumnMajor, {g}, 1});
    REQUIRE(c == std::vector<T>{4, 8, 12, 16});
  }
}

}  // namespace
