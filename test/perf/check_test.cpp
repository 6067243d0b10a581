// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What the perf suite's check lets pass where a kernel of a peer rounds what the next one activates.

#include "check.hpp"
#include "cases.hpp"
#include "random.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>

using namespace tessera;
using namespace tessera::perf;

namespace {

/// The host's memory, as far as a check reads it.
class HostMemory : public Device {
 public:
  std::string name() const override { return "host"; }
  std::size_t cache_bytes() const override { return 0; }
  std::size_t free_bytes() const override { return 0; }
  void* allocate(std::size_t) override { return nullptr; }
  void release(void*) override {}
  void fill(void*, DType, std::int64_t, std::uint64_t, Range) override {}
  void poison(void*, std::size_t) override {}
  std::int64_t count_nan(const void*, DType, std::int64_t) override { return 0; }
  void read(const void* data, DType dtype, std::span<const std::int64_t> where, double* values) override {
    with_types(dtype, [&]<class T>(std::type_identity<T>) {
      for (const std::int64_t i : where) *values++ = double(Scalar<T>(static_cast<const T*>(data)[i]));
    });
  }
  double time(const std::function<void()>&) override { return 0.0; }
  std::vector<Ceiling> ceilings(DType) const override { return {}; }
  double measure(Ceiling, DType, std::size_t) override { return 0.0; }
  bool interleave() const override { return false; }
};

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

/// The elements of the product with its bias, before the activation.
template <class T>
std::vector<double> biased(const Problem& p) {
  const auto at = [](int input, std::int64_t i) {
    return double(Scalar<T>(random_element<T>(input_seed(kSeed, input), std::uint64_t(i))));
  };
  std::vector<double> values;
  for (std::int64_t i = 0; i < kSize; ++i)
    for (std::int64_t j = 0; j < kSize; ++j) {
      double sum = 0.0;
      for (std::int64_t t = 0; t < kSize; ++t) sum += at(0, i * kSize + t) * at(1, t * kSize + j);
      values.push_back(double(p.gemm.alpha) * sum + at(2, j));
    }
  return values;
}

double silu(double x) { return x / (1.0 + std::exp(-x)); }

/// Each value by `function`, checked with that rounding.
template <class T, class Function>
Verdict verdict(const Problem& p, Rounding rounding, Function function) {
  std::vector<T> results;
  for (const double x : biased<T>(p)) results.push_back(rounded<T>(function(x)));
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
