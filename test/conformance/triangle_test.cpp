// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Triangles of products, of integers, so that every sum is exact; and that nothing else is written.

#include "element_numbers.hpp"
#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

/// Integers of a small size.
template <class T>
std::vector<T> draw_integers(Random& random, std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(number<T>(double(random.integer(-2, 2))));
  return values;
}

/// Where an element of a stored matrix is.
std::size_t at(Order order, bool transposed, std::int64_t ld, std::int64_t row, std::int64_t column) {
  if (transposed) std::swap(row, column);
  return std::size_t(order == Order::row_major ? row * ld + column : column * ld + row);
}

/// A product of square D, its operands and what must come of it.
template <class T>
class TriangleProduct {
 public:
  TriangleProduct(Subject& subject, Random& random) : subject_(subject) {
    d_.m = d_.n = random.integer(1, random.bits() % 3 == 0 ? 20 : random.bits() % 8 == 0 ? 700 : 200);
    d_.k = random.bits() % 8 == 0 ? 0 : random.integer(1, 60);
    d_.dtype = kDType<T>, d_.batch = random.bits() % 3 == 0 ? 3 : 1;
    d_.order = random.bits() % 2 == 0 ? Order::row_major : Order::column_major;
    d_.triangle = Triangle(random.integer(1, 3));
    d_.trans_a = random.bits() % 2 == 0 ? Transpose::no : Transpose::yes;
    mirrored_ = d_.triangle == Triangle::mirrored;
    if (mirrored_)
      d_.trans_b = d_.trans_a == Transpose::no ? Transpose::yes : Transpose::no;
    else
      d_.trans_b = random.bits() % 2 == 0 ? Transpose::no : Transpose::yes;
    if (!mirrored_ && random.bits() % 3 == 0) d_.bias = random.bits() % 2 == 0 ? Bias::per_row : Bias::per_column;
    if (random.bits() % 3 == 0) d_.activation = Activation::relu;
    if (random.bits() % 4 == 0) d_.sums = Sums::ordered;
    const std::int64_t n = d_.n, k = d_.k, gap = random.bits() % 2 == 0 ? 0 : random.integer(1, 5);
    const bool rows = d_.order == Order::row_major;
    lda_ = std::max<std::int64_t>(1, (rows == (d_.trans_a == Transpose::no) ? k : n) + gap);
    ldb_ = std::max<std::int64_t>(1, (rows == (d_.trans_b == Transpose::no) ? n : k) + gap);
    ldc_ = n + gap;
    d_.lda = lda_, d_.ldb = ldb_, d_.ldc = ldc_;
    stride_a_ = lda_ * std::max(n, k), stride_b_ = ldb_ * std::max(n, k), stride_c_ = ldc_ * n;
    d_.stride_a = stride_a_, d_.stride_b = stride_b_, d_.stride_c = stride_c_;
    a_ = draw_integers<T>(random, stride_a_ * d_.batch);
    b_ = mirrored_ ? a_ : draw_integers<T>(random, stride_b_ * d_.batch);
    c_ = draw_integers<T>(random, stride_c_ * d_.batch), bias_ = draw_integers<T>(random, n);
    alpha_ = double(random.integer(-1, 2)), beta_ = double(random.integer(-1, 1));
    if (mirrored_) make_symmetric();
    in_place_ = random.bits() % 2 == 0;
    before_ = in_place_ ? c_ : draw_integers<T>(random, stride_c_ * d_.batch);
    expect();
  }

  /// One of the ways in which it may be computed.
  std::string any_way(Random& random) const {
    const auto offers = GemmPlan::offers(subject_.context(), d_);
    return offers.empty() ? "" : offers[std::size_t(random.integer(0, std::int64_t(offers.size()) - 1))].algorithm;
  }

  void check(const std::string& algorithm, Tally& tally) {
    std::vector<T> d = before_;
    try {
      GemmPlan plan(subject_.context(), d_, {.algorithm = algorithm});
      if (!algorithm.empty()) subject_.check_forced(plan, algorithm);
      const Scalar<T> alpha = Scalar<T>(alpha_), beta = Scalar<T>(beta_);
      std::vector<T>& c = in_place_ ? d : c_;
      if (d_.bias == Bias::none)
        plan.execute(alpha, a_, b_, beta, c, d);
      else
        plan.execute(alpha, a_, b_, beta, c, d, bias(bias_));
    } catch (const Error& error) {
      if ((algorithm.empty() && subject_.is_complete()) || error.code() != ErrorCode::unsupported) throw;
      ++tally.refused[error.what()];
      return;
    }
    ++tally.run;
    std::int64_t different = 0;
    for (std::size_t i = 0; i < d.size(); ++i) different += double(wide(d[i])) != double(wide(expected_[i]));
    if (different == 0) return;
    ++tally.failed;
    FAIL_CHECK("n=" << d_.n << " k=" << d_.k << " batch=" << d_.batch << " triangle " << int(d_.triangle)
                    << (d_.order == Order::row_major ? " row-major " : " column-major ")
                    << (d_.trans_a == Transpose::yes ? 'T' : 'N') << (d_.trans_b == Transpose::yes ? 'T' : 'N')
                    << " by '" << algorithm << "': " << different << " elements are wrong");
  }

 private:
  std::size_t place(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return std::size_t(item * stride_c_) + at(d_.order, false, ldc_, i, j);
  }
  void make_symmetric() {
    for (std::int64_t item = 0; item < d_.batch; ++item)
      for (std::int64_t i = 0; i < d_.n; ++i)
        for (std::int64_t j = 0; j < i; ++j) c_[place(item, j, i)] = c_[place(item, i, j)];
  }
  void expect() {
    expected_ = before_;
    const bool ta = d_.trans_a == Transpose::yes, tb = d_.trans_b == Transpose::yes;
    for (std::int64_t item = 0; item < d_.batch; ++item)
      for (std::int64_t i = 0; i < d_.n; ++i)
        for (std::int64_t j = 0; j < d_.n; ++j) {
          if ((d_.triangle == Triangle::lower && j > i) || (d_.triangle == Triangle::upper && j < i)) continue;
          double sum = 0;
          for (std::int64_t l = 0; l < d_.k; ++l)
            sum += double(wide(a_[std::size_t(item * stride_a_) + at(d_.order, ta, lda_, i, l)])) *
                   double(wide(b_[std::size_t(item * stride_b_) + at(d_.order, tb, ldb_, l, j)]));
          double value = alpha_ * sum + beta_ * double(wide(c_[place(item, i, j)]));
          if (d_.bias != Bias::none) value += double(wide(bias_[std::size_t(d_.bias == Bias::per_row ? i : j)]));
          expected_[place(item, i, j)] = number<T>(d_.activation == Activation::relu ? std::max(value, 0.0) : value);
        }
  }

  Subject& subject_;
  GemmDesc d_;
  bool mirrored_ = false, in_place_ = false;
  std::int64_t lda_, ldb_, ldc_, stride_a_, stride_b_, stride_c_;
  double alpha_, beta_;
  std::vector<T> a_, b_, c_, bias_, before_, expected_;  ///< D before, and after
};

}  // namespace

TEMPLATE_TEST_CASE("triangles of products, and nothing beside them", "[gemm][triangle]", float, double, float16,
                   bfloat16) {
  Subject subject;
  const std::string what = std::string(name_of(kDType<TestType>)) + " triangle";
  Random random("triangles " + what);
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  const std::string kAnyWay = "(an offer)";
  std::vector<std::string> names = subject.tested(TESSERA_OP_GEMM, Part::triangle);
  std::map<std::string, Tally> tallies;
  names.push_back("");
  for (int i = 0, count = short_list() > 0 ? 10 : sample_of() > 1 ? 40 : 200; i < count; ++i) {
    TriangleProduct<TestType> product(subject, random);
    for (const std::string& name : names)
      if (tallies[name].failed < 5) product.check(name, tallies[name]);
    if (tallies[kAnyWay].failed < 5) product.check(product.any_way(random), tallies[kAnyWay]);
  }
  names.push_back(kAnyWay);
  for (const std::string& name : names)
    report(subject.spec() + "/" + name + " " + what, tallies[name], !name.empty() || !subject.is_complete());
}

TEMPLATE_TEST_CASE("a triangle with ordered sums has the bits of the whole product", "[gemm][triangle][ordered]", float,
                   double, float16, bfloat16) {
  using T = TestType;
  Subject subject;
  Random random(std::string("ordered triangles ") + name_of(kDType<T>));
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  for (int trial = 0, count = short_list() > 0 || sample_of() > 1 ? 4 : 20; trial < count; ++trial) {
    const std::int64_t n = random.integer(1, 300), k = random.integer(1, 1500);
    std::vector<T> a, b;
    for (std::int64_t i = 0; i < n * k; ++i) a.push_back(T(Scalar<T>(random.uniform())));
    for (std::int64_t i = 0; i < n * k; ++i) b.push_back(T(Scalar<T>(random.uniform())));
    GemmDesc desc{.m = n, .n = n, .k = k, .dtype = kDType<T>, .sums = Sums::ordered};
    if (trial % 2 == 0) desc.trans_b = Transpose::yes;
    if (trial % 3 == 0) desc.order = Order::column_major;
    std::vector<T> whole(std::size_t(n * n)), part(whole.size());
    try {
      GemmPlan(subject.context(), desc).execute(1, a, b, 0, whole);
      desc.triangle = trial % 4 < 2 ? Triangle::lower : Triangle::upper;
      GemmPlan(subject.context(), desc).execute(1, a, b, 0, part);
    } catch (const Error& error) {
      if (subject.is_complete() || error.code() != ErrorCode::unsupported) throw;
      SKIP(error.what());
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const std::size_t place = at(desc.order, false, n, i, j);
        if (desc.triangle == Triangle::lower ? j > i : j < i) whole[place] = T(Scalar<T>(0));
      }
    INFO("n=" << n << " k=" << k << " trial " << trial);
    CHECK(std::memcmp(whole.data(), part.data(), whole.size() * sizeof(T)) == 0);
  }
}

}  // namespace tessera::test
