// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What the perf suite's check lets pass where a peer rounds more than once, and how it counts errors.

#include "check.hpp"
#include "cases.hpp"
#include "host_memory.hpp"
#include "random.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>

using namespace tessera;
using namespace tessera::perf;

namespace {

constexpr std::int64_t kSize = 64;
constexpr std::uint64_t kSeed = 3;

template <class T>
Problem product_with_silu() {
  Case c;
  c.problem.gemm = {kSize, kSize, kSize, false, false, kSize, kSize, kSize};
  c.problem.gemm.stride_a = c.problem.gemm.stride_b = c.problem.gemm.stride_c = kSize * kSize;
  add_epilogue(c.problem.gemm, TESSERA_ACTIVATION_SILU);
  return resolve(c, kDType<T>);
}

template <class T>
T rounded(double value) {
  return T(Scalar<T>(value));
}

/// The elements of the product with its bias, before the activation; k cut into so many parts, of which each is
/// rounded, and so is each sum of parts.
template <class T>
std::vector<double> biased(const Problem& p, std::int64_t parts = 1) {
  const auto at = [](int input, std::int64_t i) {
    return double(Scalar<T>(random_element<T>(input_seed(kSeed, input), std::uint64_t(i))));
  };
  std::vector<double> values;
  for (std::int64_t i = 0; i < kSize; ++i)
    for (std::int64_t j = 0; j < kSize; ++j) {
      long double sum = 0.0;
      for (std::int64_t part = 0; part < parts; ++part) {
        long double of_part = 0.0;
        for (std::int64_t t = kSize * part / parts; t < kSize * (part + 1) / parts; ++t)
          of_part += static_cast<long double>(at(0, i * kSize + t)) * at(1, t * kSize + j);
        sum = parts == 1 ? of_part
                         : double(Scalar<T>(rounded<T>(double(sum) + double(Scalar<T>(rounded<T>(double(of_part)))))));
      }
      values.push_back(double(p.gemm.alpha * sum + at(2, j)));
    }
  return values;
}

double silu(double x) { return x / (1.0 + std::exp(-x)); }

/// Each value by `function`, checked with that rounding.
template <class T, class Function>
Verdict verdict(const Problem& p, Rounding rounding, Function function, std::int64_t parts = 1) {
  std::vector<T> results;
  for (const double x : biased<T>(p, parts)) results.push_back(rounded<T>(function(x)));
  HostMemory memory;
  void* const arrays[] = {nullptr, nullptr, nullptr, results.data()};
  return Reference(p, kSeed).check(memory, arrays, rounding);
}

}  // namespace

TEMPLATE_TEST_CASE("what is activated may be rounded before, where the peer says so, and not elsewhere", "", float16,
                   bfloat16) {
  const Problem p = product_with_silu<TestType>();
  const auto twice = [](double x) { return silu(double(Scalar<TestType>(rounded<TestType>(x)))); };
  for (const Rounding rounding : {Rounding::once, Rounding::before_activation}) {
    CHECK(verdict<TestType>(p, rounding, silu).failure == "");
    CHECK(verdict<TestType>(p, rounding, [](double x) { return x; }).failure != "");  // no activation
    CHECK(verdict<TestType>(p, rounding, [](double x) { return x / (1.0 + std::exp(-1.03 * x)); }).failure != "");
  }
  CHECK(verdict<TestType>(p, Rounding::once, twice).failure != "");
  const Verdict accepted = verdict<TestType>(p, Rounding::before_activation, twice);
  CHECK(accepted.failure == "");
  CHECK(accepted.error > 0.5);  // a bound that is no looser than it must be
}

TEST_CASE("f32 is rounded with the sums, and gets no more room") {
  const Problem p = product_with_silu<float>();
  const double once = verdict<float>(p, Rounding::once, silu).error;
  CHECK(once > 0.0);
  CHECK(once == verdict<float>(p, Rounding::before_activation, silu).error);
}

TEMPLATE_TEST_CASE("sums may be added up in D's type where the peer says so, and not elsewhere", "", float16,
                   bfloat16) {
  Problem p = product_with_silu<TestType>();
  p.gemm.activation = TESSERA_ACTIVATION_NONE;
  const auto same = [](double x) { return x; };
  CHECK(verdict<TestType>(p, Rounding::once, same).failure == "");
  CHECK(verdict<TestType>(p, Rounding::once, same, 16).failure != "");
  CHECK(verdict<TestType>(p, Rounding::in_parts, same, 16).failure == "");
  // No product is right that lacks something.
  CHECK(verdict<TestType>(p, Rounding::in_parts, [](double x) { return x - 8.0; }).failure != "");
  CHECK(verdict<TestType>(p, Rounding::in_parts, [](double x) { return -x; }).failure != "");
}

TEMPLATE_TEST_CASE("errors are counted in units in the last place", "", float, double, float16, bfloat16) {
  Problem p = product_with_silu<TestType>();
  p.gemm.activation = TESSERA_ACTIVATION_NONE;
  // What is rounded to double is right to the last bit of the narrower types.
  if (size_of(kDType<TestType>) < 8) {
    const Verdict nearest = verdict<TestType>(p, Rounding::once, [](double x) { return x; });
    CHECK((nearest.ulps > 0.4 && nearest.ulps <= 0.5));
    CHECK(nearest.misrounded == 0.0);
  }
  const double unit = 2.0 * kUnitRoundoff<TestType>;
  const auto off = [unit](double units) {
    return [=](double x) { return x + units * unit * std::exp2(std::floor(std::log2(std::abs(x)))); };
  };
  const Verdict three = verdict<TestType>(p, Rounding::once, off(3.0));
  CHECK((three.ulps > 3.4 && three.ulps < 4.01));  // rounded to a multiple of two units above a power of two
  CHECK(three.misrounded == 1.0);
}
