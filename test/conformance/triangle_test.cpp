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
#include <optional>
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

template <class T>
std::vector<T> draw_uniform(Random& random, std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(T(Scalar<T>(random.uniform())));
  return values;
}

/// Where an element of a stored matrix is.
std::size_t at(Order order, bool transposed, std::int64_t ld, std::int64_t row, std::int64_t column) {
  if (transposed) std::swap(row, column);
  return std::size_t(order == Order::row_major ? row * ld + column : column * ld + row);
}

/// Puts what D had before beside a triangle.
template <class T>
void keep_other_side(const GemmDesc& desc, const std::vector<T>& before, std::vector<T>& d) {
  const std::int64_t n = desc.n;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const std::size_t place = at(desc.order, false, n, i, j);
      if (desc.triangle == Triangle::lower ? j > i : j < i) d[place] = before[place];
    }
}

/// A product of square D, its operands and what must come of it.
template <class T>
class TriangleProduct {
 public:
  TriangleProduct(Subject& subject, Random& random) : subject_(subject) {
    d_.m = d_.n = random.integer(0, random.bits() % 3 == 0 ? 20 : random.bits() % 8 == 0 ? 700 : 200);
    d_.k = random.bits() % 8 == 0 ? 0 : random.integer(1, 60);
    d_.dtype = kDType<T>, d_.batch = random.bits() % 3 == 0 ? random.integer(0, 3) : 1;
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
    ldc_ = ldd_ = std::max<std::int64_t>(1, n + gap);
    stride_a_ = lda_ * std::max(n, k), stride_b_ = ldb_ * std::max(n, k), stride_c_ = stride_d_ = ldc_ * n + gap;
    in_place_ = random.bits() % 2 == 0, memory_ = random.bits() % 2 == 0 ? Memory::host : Memory::device;
    if (!in_place_ && random.bits() % 2 == 0) ldd_ += random.integer(1, 9), stride_d_ = ldd_ * n;
    d_.lda = lda_, d_.ldb = ldb_, d_.ldc = ldc_, d_.ldd = ldd_;
    d_.stride_a = stride_a_, d_.stride_b = stride_b_, d_.stride_c = stride_c_, d_.stride_d = stride_d_;
    if (memory_ == Memory::device && random.bits() % 2 == 0) begin_ = random.integer(1, 3);
    a_ = draw_integers<T>(random, stride_a_ * d_.batch);
    b_ = mirrored_ ? a_ : draw_integers<T>(random, stride_b_ * d_.batch);
    c_ = draw_integers<T>(random, stride_c_ * d_.batch), bias_ = draw_integers<T>(random, n);
    if (d_.sums != Sums::ordered && random.bits() % 6 == 0) limit_ = 1;  // those of 16 bits may need memory
    alpha_ = double(random.integer(-1, 2)), beta_ = double(random.integer(-1, 1));
    before_ = in_place_ ? c_ : draw_integers<T>(random, stride_d_ * d_.batch);
    expect();
  }

  /// One of the ways in which it may be computed.
  std::string any_way(Random& random) const {
    try {
      const auto offers = GemmPlan::offers(subject_.context(), d_, options(""));
      return offers.empty() ? "" : offers[std::size_t(random.integer(0, std::int64_t(offers.size()) - 1))].algorithm;
    } catch (const Error& error) {
      if (subject_.is_complete() || error.code() != ErrorCode::unsupported) throw;
      return "";  // which is refused, too
    }
  }

  void check(const std::string& algorithm, Tally& tally) {
    std::vector<T> d = before_;
    try {
      GemmPlan plan(subject_.context(), d_, options(algorithm));
      if (!algorithm.empty()) subject_.check_forced(plan, algorithm);
      if (memory_ == Memory::host)
        execute(plan, a_, b_, in_place_ ? d : c_, d, bias_);
      else
        execute_on_device(plan, d);
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
                    << (in_place_ ? " in place" : "")
                    << (memory_ == Memory::device ? " on the device, from " : " from ") << begin_ << ", ldd=" << ldd_
                    << " by '" << algorithm << "': " << different << " elements are wrong");
  }

 private:
  PlanOptions options(const std::string& algorithm) const {
    PlanOptions options{.operands = memory_, .algorithm = algorithm};
    if (limit_) options.workspace_limit = *limit_;
    return options;
  }
  template <class A, class C, class D>
  void execute(GemmPlan& plan, const A& a, const A& b, C& c, D& d, const A& along) const {
    const Scalar<T> alpha = Scalar<T>(alpha_), beta = Scalar<T>(beta_);
    if (d_.bias == Bias::none)
      plan.execute(alpha, a, b, beta, c, d);
    else
      plan.execute(alpha, a, b, beta, c, d, bias(along));
  }
  /// From element `begin_` of each array on.
  void execute_on_device(GemmPlan& plan, std::vector<T>& d) const {
    const auto upload = [&](const std::vector<T>& values) {
      Buffer<T> buffer(subject_.context(), std::int64_t(values.size()) + begin_ + 1);
      if (!values.empty()) buffer.upload(values, begin_);
      return buffer;
    };
    Buffer<T> a = upload(a_), b = upload(b_), c = upload(c_), of_d = upload(d), along = upload(bias_);
    const T *const at_a = a.data() + begin_, *const at_b = b.data() + begin_, *const at_bias = along.data() + begin_;
    T *const at_d = of_d.data() + begin_, *const at_c = in_place_ ? at_d : c.data() + begin_;
    execute(plan, at_a, at_b, at_c, at_d, at_bias);
    if (!d.empty()) of_d.download(d, begin_);
  }
  std::size_t place_c(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return std::size_t(item * stride_c_) + at(d_.order, false, ldc_, i, j);
  }
  std::size_t place_d(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return std::size_t(item * stride_d_) + at(d_.order, false, ldd_, i, j);
  }
  /// Whether an element of a mirrored D is the copy of another one: of the lower triangle, by columns of the upper one.
  bool is_copy(std::int64_t i, std::int64_t j) const {
    return mirrored_ && (d_.order == Order::row_major ? j > i : j < i);
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
          const std::size_t of_c = is_copy(i, j) ? place_c(item, j, i) : place_c(item, i, j);
          double value = alpha_ * sum + beta_ * double(wide(c_[of_c]));
          if (d_.bias != Bias::none) value += double(wide(bias_[std::size_t(d_.bias == Bias::per_row ? i : j)]));
          expected_[place_d(item, i, j)] = number<T>(d_.activation == Activation::relu ? std::max(value, 0.0) : value);
        }
  }

  Subject& subject_;
  GemmDesc d_;
  bool mirrored_ = false, in_place_ = false;
  Memory memory_ = Memory::host;
  std::optional<std::uint64_t> limit_;
  std::int64_t begin_ = 0, lda_, ldb_, ldc_, ldd_, stride_a_, stride_b_, stride_c_, stride_d_;
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
    // On devices once so large that tiles are taken in bands.
    const bool large = trial == 0 && subject.spec().find("cuda") != std::string::npos;
    const std::int64_t n = large ? 2200 : random.integer(1, 300), k = large ? 2100 : random.integer(1, 1500);
    const std::vector<T> a = draw_uniform<T>(random, n * k), b = draw_uniform<T>(random, n * k);
    GemmDesc desc{.m = n, .n = n, .k = k, .dtype = kDType<T>, .sums = Sums::ordered};
    if (trial % 2 == 0) desc.trans_b = Transpose::yes;
    if (trial % 3 == 0) desc.order = Order::column_major;
    if (trial % 5 == 0) desc.bias = trial % 2 == 0 ? Bias::per_row : Bias::per_column;
    const std::vector<T> before = draw_uniform<T>(random, n * n), along = draw_uniform<T>(random, n);
    std::vector<T> whole = before, part = before;
    const Scalar<T> alpha = trial % 2 == 0 ? Scalar<T>(1) : Scalar<T>(1.7), beta = Scalar<T>(trial % 3);
    const auto execute = [&](std::vector<T>& d) {
      GemmPlan plan(subject.context(), desc);
      if (desc.bias == Bias::none)
        plan.execute(alpha, a, b, beta, d);
      else
        plan.execute(alpha, a, b, beta, d, bias(along));
    };
    try {
      execute(whole);
      desc.triangle = trial % 4 < 2 ? Triangle::lower : Triangle::upper;
      execute(part);
    } catch (const Error& error) {
      if (subject.is_complete() || error.code() != ErrorCode::unsupported) throw;
      SKIP(error.what());
    }
    keep_other_side(desc, before, whole);
    INFO("n=" << n << " k=" << k << " trial " << trial);
    CHECK(std::memcmp(whole.data(), part.data(), whole.size() * sizeof(T)) == 0);
  }
}

}  // namespace tessera::test
