// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Complex products: of integers, whose sums are exact; and their bound, part by part.

#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

using Complex = std::complex<double>;

/// Numbers whose parts are small integers, or random ones.
template <class Z>
std::vector<Z> draw(Random& random, std::int64_t count, bool integers) {
  using T = typename Z::value_type;
  const auto part = [&] { return integers ? T(random.integer(-3, 3)) : T(random.uniform()); };
  std::vector<Z> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back({part(), part()});
  return values;
}

bool conjugates(Transpose t) { return t == Transpose::conjugate || t == Transpose::conjugate_alone; }

/// op(X)[i][j] of a stored matrix from an element on.
template <class Z>
Complex element(const std::vector<Z>& x, std::int64_t first, std::int64_t ld, Order order, Transpose t, std::int64_t i,
                std::int64_t j) {
  if (is_transposed(t)) std::swap(i, j);
  const Complex value(x[std::size_t(first + (order == Order::row_major ? i * ld + j : j * ld + i))]);
  return conjugates(t) ? std::conj(value) : value;
}

/// A product, its operands, and what must come of it.
template <class Z>
class ComplexProduct {
  using T = typename Z::value_type;

 public:
  ComplexProduct(Subject& subject, Random& random) : subject_(subject), exact_(random.bits() % 2 == 0) {
    const auto extent = [&] { return random.integer(0, random.bits() % 4 == 0 ? 150 : 20); };
    d_.m = extent(), d_.n = extent(), d_.k = extent(), d_.dtype = kDType<Z>;
    d_.batch = random.bits() % 3 == 0 ? random.integer(0, 3) : 1;
    d_.order = random.bits() % 2 == 0 ? Order::row_major : Order::column_major;
    d_.trans_a = Transpose(random.integer(0, 3)), d_.trans_b = Transpose(random.integer(0, 3));
    if (random.bits() % 4 == 0) d_.sums = Sums::ordered;
    if (random.bits() % 3 == 0) d_.n = d_.m, d_.triangle = Triangle(random.integer(1, 2));
    const bool rows = d_.order == Order::row_major;
    const std::int64_t m = d_.m, n = d_.n, k = d_.k, gap = random.bits() % 2 == 0 ? 0 : random.integer(1, 4);
    const auto ld = [&](bool along, std::int64_t one, std::int64_t other) {
      return std::max<std::int64_t>(1, (along ? one : other) + gap);
    };
    lda_ = ld(rows == !is_transposed(d_.trans_a), k, m), ldb_ = ld(rows == !is_transposed(d_.trans_b), n, k);
    ldc_ = ld(rows, n, m);
    ldd_ = ldc_;
    in_place_ = random.bits() % 2 == 0, shared_b_ = random.bits() % 3 == 0;
    stride_a_ = lda_ * std::max(m, k), stride_b_ = shared_b_ ? 0 : ldb_ * std::max(n, k);
    if (!in_place_ && random.bits() % 2 == 0) ldd_ += random.integer(1, 5);
    stride_c_ = ldc_ * std::max(m, n), stride_d_ = ldd_ * std::max(m, n);
    if (!in_place_ && random.bits() % 4 == 0) stride_c_ = 0;
    d_.lda = lda_, d_.ldb = ldb_, d_.ldc = ldc_, d_.ldd = ldd_;
    d_.stride_a = stride_a_, d_.stride_b = stride_b_, d_.stride_c = stride_c_, d_.stride_d = stride_d_;
    a_ = draw<Z>(random, stride_a_ * d_.batch, exact_);
    b_ = draw<Z>(random, ldb_ * std::max(n, k) * d_.batch, exact_),
    c_ = draw<Z>(random, ldc_ * std::max(m, n) * d_.batch, exact_);
    before_ = in_place_ ? c_ : draw<Z>(random, stride_d_ * d_.batch, true);
    const auto scalar = [&] {
      return Z(T(random.integer(-1, 2)), random.bits() % 2 == 0 ? T(0) : T(random.integer(-2, 2)));
    };
    alpha_ = scalar(), beta_ = scalar();
    if (d_.triangle == Triangle::none && random.bits() % 3 == 0)
      limit_ = std::uint64_t(random.integer(8, 64)) << 11;  // panels of some columns
  }

  void check(const std::string& algorithm, Tally& tally) {
    std::vector<Z> d = before_;
    try {
      GemmPlan plan(subject_.context(), d_, {.algorithm = algorithm, .workspace_limit = limit_});
      if (!algorithm.empty()) subject_.check_forced(plan, algorithm);
      plan.execute(alpha_, a_, b_, beta_, in_place_ ? d : c_, d);
    } catch (const Error& error) {
      if ((algorithm.empty() && subject_.is_complete()) || error.code() != ErrorCode::unsupported) throw;
      ++tally.refused[error.what()];
      return;
    }
    ++tally.run;
    const std::int64_t wrong = count_wrong(d);
    if (wrong == 0) return;
    ++tally.failed;
    const auto letter = [](Transpose t) { return "NTCJ"[int(t)]; };
    FAIL_CHECK("m=" << d_.m << " n=" << d_.n << " k=" << d_.k << " batch=" << d_.batch << " " << letter(d_.trans_a)
                    << letter(d_.trans_b) << (d_.order == Order::row_major ? " row-major" : " column-major")
                    << " triangle " << int(d_.triangle) << " alpha=" << alpha_ << " beta=" << beta_
                    << (in_place_ ? " in place" : "") << " by '" << algorithm << "': " << wrong
                    << " elements are wrong");
  }

 private:
  /// Each part is a sum of 2 k products and that of C, times alpha, which is rounded with B: see docs/notes/bounds.md.
  std::int64_t count_wrong(const std::vector<Z>& d) const {
    std::int64_t wrong = 0;
    std::vector<bool> written(d.size());
    const double u = kUnitRoundoff<T>, growth = exact_ ? 0.0 : 2.0 * double(d_.k) + 8.0;
    for (std::int64_t item = 0; item < d_.batch; ++item)
      for (std::int64_t i = 0; i < d_.m; ++i)
        for (std::int64_t j = 0; j < d_.n; ++j) {
          if ((d_.triangle == Triangle::lower && j > i) || (d_.triangle == Triangle::upper && j < i)) continue;
          Complex sum = 0;
          double size = 0;
          for (std::int64_t l = 0; l < d_.k; ++l) {
            const Complex a = element(a_, item * stride_a_, lda_, d_.order, d_.trans_a, i, l);
            const Complex b = element(b_, item * stride_b_, ldb_, d_.order, d_.trans_b, l, j);
            sum += a * b, size += norm1(a) * norm1(b);
          }
          const bool rows = d_.order == Order::row_major;
          const std::int64_t of_c = item * stride_c_ + (rows ? i * ldc_ + j : j * ldc_ + i);
          const std::int64_t place = item * stride_d_ + (rows ? i * ldd_ + j : j * ldd_ + i);
          const Complex c(c_[std::size_t(of_c)]), want = Complex(alpha_) * sum + Complex(beta_) * c;
          const double bound = growth * u * (norm1(alpha_) * size + norm1(beta_) * norm1(c));
          const Complex got(d[std::size_t(place)]);
          written[std::size_t(place)] = true;
          wrong += !(std::abs(got.real() - want.real()) <= bound && std::abs(got.imag() - want.imag()) <= bound);
        }
    for (std::size_t i = 0; i < d.size(); ++i) wrong += !written[i] && d[i] != before_[i];
    return wrong;
  }
  static double norm1(const Complex& z) { return std::abs(z.real()) + std::abs(z.imag()); }

  Subject& subject_;
  GemmDesc d_;
  bool exact_, in_place_ = false, shared_b_ = false;
  std::int64_t lda_, ldb_, ldc_, ldd_, stride_a_, stride_b_, stride_c_, stride_d_;
  Z alpha_, beta_;
  std::uint64_t limit_ = 0;
  std::vector<Z> a_, b_, c_, before_;
};

}  // namespace

TEMPLATE_TEST_CASE("complex products", "[gemm][complex]", std::complex<float>, std::complex<double>) {
  Subject subject;
  const std::string what = name_of(kDType<TestType>);
  Random random("complex " + what);
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  std::map<std::string, Tally> tallies;
  const std::vector<std::string> names{"doubled", "triangles", ""};
  for (int i = 0, count = short_list() > 0 ? 20 : sample_of() > 1 ? 100 : 600; i < count; ++i) {
    ComplexProduct<TestType> product(subject, random);
    for (const std::string& name : names)
      if (tallies[name].failed < 5) product.check(name, tallies[name]);
  }
  for (const std::string& name : names)
    report(subject.spec() + "/" + name + " " + what, tallies[name], !subject.is_complete());
}

TEMPLATE_TEST_CASE("complex products in one call", "[gemm][complex]", std::complex<float>, std::complex<double>) {
  using Z = TestType;
  Subject subject;
  const std::vector<Z> a{Z(1, 2), Z(3, -1)}, b{Z(0, 1), Z(2, 2)};
  std::vector<Z> d{Z(5, 5)};
  try {
    gemm(subject.context(), {.m = 1, .n = 1, .k = 2, .trans_b = Transpose::conjugate}, Z(0, 1), a, b, Z(2), d);
  } catch (const Error& error) {
    if (subject.is_complete() || error.code() != ErrorCode::unsupported) throw;
    SKIP(error.what());
  }
  CHECK(d[0] == Z(0, 1) * (a[0] * std::conj(b[0]) + a[1] * std::conj(b[1])) + Z(10, 10));
}

}  // namespace tessera::test
