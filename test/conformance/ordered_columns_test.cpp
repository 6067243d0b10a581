// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Ordered sums of some columns of a product, as ranks have them that share out the columns of B: they have the bits of
/// the whole.

#include "element_numbers.hpp"
#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

template <class T>
std::vector<T> draw_values(Random& random, std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(number<T>(random.uniform()));
  return values;
}

/// Whether bits are the same, or both are NaN.
template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(double(wide(a))) && std::isnan(double(wide(b))));
}

/// A product, and its bits by an automatic plan.
template <class T, class U>
class WholeProduct {
  using D = std::conditional_t<(sizeof(T) > sizeof(U)), T, U>;

 public:
  /// Columns that count as few or as many to some backend, and so many of k that there are slices.
  WholeProduct(Subject& subject, Compute compute, Random& random) : subject_(subject) {
    const std::int64_t extents[] = {random.integer(2, 256), random.integer(257, 1024), random.integer(1025, 2300)};
    whole_ = {.m = random.integer(1, random.bits() % 6 == 0 ? 150 : 16),
              .n = extents[random.bits() % 3],
              .k = random.integer(500, random.bits() % 4 == 0 ? 4400 : 1500),
              .dtype = kDType<T>,
              .compute = compute,
              .dtype_b = kDType<U>,
              .sums = Sums::ordered};
    whole_.order = random.bits() % 2 == 0 ? Order::row_major : Order::column_major;
    whole_.trans_a = random.bits() % 2 == 0 ? Transpose::no : Transpose::yes;
    whole_.trans_b = random.bits() % 2 == 0 ? Transpose::no : Transpose::yes;
    a_ = draw_values<T>(random, whole_.m * whole_.k), b_ = draw_values<U>(random, whole_.k * whole_.n);
    const double rare[] = {std::numeric_limits<double>::infinity(), std::nan(""), 3e38, -6e4};
    for (int i = random.bits() % 3 == 0 ? 5 : 0; i > 0; --i)
      a_[random.bits() % a_.size()] = number<T>(rare[random.bits() % 4]);
    if (random.bits() % 6 == 0) {  // all products become -0
      const double tiny = sizeof(T) == 8 ? 1e-200 : 1e-30;
      std::ranges::fill(a_, number<T>(-tiny)), std::ranges::fill(b_, number<U>(tiny));
    }
    c_.resize(std::size_t(whole_.m * whole_.n));
  }

  /// Whether there is a plan: a backend that is not complete may refuse.
  bool can() {
    try {
      GemmPlan(subject_.context(), whole_).execute(1, a_, b_, 0, c_);
    } catch (const Error& error) {
      if (subject_.is_complete() || error.code() != ErrorCode::unsupported) throw;
      return false;
    }
    return true;
  }

  /// Columns `first` to `first + count - 1`, by an algorithm; "": the plan's choice.
  void check(std::int64_t first, std::int64_t count, const std::string& algorithm, Tally& tally) {
    GemmDesc part = whole_;
    const bool by_rows = whole_.order == Order::row_major, lines_of_b = by_rows == (whole_.trans_b == Transpose::yes);
    part.n = count, part.whole_n = whole_.n;
    part.ldb = lines_of_b ? whole_.k : whole_.n, part.ldc = by_rows ? whole_.n : whole_.m;
    std::vector<D> computed(c_.size(), number<D>(0));
    const std::int64_t place = by_rows ? first : first * whole_.m;
    try {
      GemmPlan plan(subject_.context(), part, {.algorithm = algorithm});
      if (!algorithm.empty()) subject_.check_forced(plan, algorithm);
      plan.execute(1, a_.data(), b_.data() + (lines_of_b ? first * whole_.k : first), 0, computed.data() + place);
    } catch (const Error& error) {
      if (algorithm.empty() || error.code() != ErrorCode::unsupported) throw;
      ++tally.refused["refused"];
      return;
    }
    ++tally.run;
    std::int64_t different = 0;
    for (std::int64_t i = 0; i < whole_.m; ++i)
      for (std::int64_t j = first; j < first + count; ++j) {
        const auto at = std::size_t(by_rows ? i * whole_.n + j : j * whole_.m + i);
        different += !same(computed[at], c_[at]);
      }
    if (different == 0) return;
    ++tally.failed;
    FAIL_CHECK("m=" << whole_.m << " n=" << whole_.n << " k=" << whole_.k << (by_rows ? " row-major" : " column-major")
                    << ", columns " << first << " to " << first + count - 1 << " by '" << algorithm
                    << "': " << different << " elements have other bits than in the whole");
  }

  std::int64_t n() const { return whole_.n; }

 private:
  Subject& subject_;
  GemmDesc whole_;
  std::vector<T> a_;
  std::vector<U> b_;
  std::vector<D> c_;
};

template <class T, class U = T>
void run_columns(Compute compute) {
  Subject subject;
  const std::string what =
      std::string(name_of(kDType<T>)) + "*" + name_of(kDType<U>) + " " + std::to_string(int(compute)) + " columns";
  Random random("columns of products of ordered sums " + what);
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  std::vector<std::string> names = subject.tested(TESSERA_OP_GEMM);
  std::map<std::string, Tally> tallies;
  names.push_back("");
  const int products = short_list() > 0 ? 3 : sample_of() > 1 ? 6 : 30;
  for (int i = 0; i < products; ++i) {
    WholeProduct<T, U> whole(subject, compute, random);
    const bool can = whole.can();
    for (const std::string& name : names) {
      const std::int64_t first = random.integer(0, whole.n() - 1), most = whole.n() - first;
      const std::int64_t count = random.bits() % 4 == 0 ? 1 : random.integer(1, most);
      if (!can)
        ++tallies[name].refused["refused"];
      else if (tallies[name].failed < 5)
        whole.check(first, count, name, tallies[name]);
    }
  }
  for (const std::string& name : names)
    report(subject.spec() + "/" + name + " " + what, tallies[name], !name.empty() || !subject.is_complete());
}

}  // namespace

TEMPLATE_TEST_CASE("some columns of a product with ordered sums have the bits of the whole", "[gemm][ordered]", float,
                   double, float16, bfloat16) {
  run_columns<TestType>(Compute::strict);
}

TEST_CASE("so have those of f32 in other arithmetic, and of two types", "[gemm][ordered][mixed]") {
  for (const Compute compute : {Compute::bf16x6, Compute::f16x3, Compute::tf32}) run_columns<float>(compute);
  run_columns<float, bfloat16>(Compute::bf16x6);
  run_columns<float16, float>(Compute::bf16x6);
  run_columns<double, float>(Compute::strict);
}

}  // namespace tessera::test
