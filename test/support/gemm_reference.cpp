// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "reference.hpp"

#include "activation_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace tessera::test {

namespace {

/// Rows of a matrix one after another, in the wide type.
template <class W, class T>
std::vector<W> packed(const MatrixLayout& layout, const T* data, std::int64_t l) {
  std::vector<W> result;
  result.reserve(std::size_t(layout.rows * layout.columns));
  for (std::int64_t i = 0; i < layout.rows; ++i)
    for (std::int64_t j = 0; j < layout.columns; ++j) result.push_back(W(wide(data[layout.at(l, i, j)])));
  return result;
}

/// One row of A times B.
template <class W>
void multiply_row(std::int64_t n, std::int64_t k, const W* a, const W* b, W* sum) {
  for (std::int64_t p = 0; p < k; ++p)
    for (std::int64_t j = 0; j < n; ++j) sum[j] += a[p] * b[p * n + j];
}

template <class W>
std::vector<double> magnitudes(const std::vector<W>& values) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const W value : values) result.push_back(std::abs(double(value)));
  return result;
}

/// Units of roundoff in the bound of a product, beside |A||B|: of the least exact arithmetic that is permitted. See
/// docs/notes/bounds.md.
double roundoffs(Compute compute, std::int64_t k, bool mixed) {
  const double strict = double(k + 4);
  if (compute == Compute::strict) return strict;
  constexpr std::int64_t kStep = 32;  // of k, over which tensor cores add up; in f16x3 twice that
  const auto parts = [k](std::int64_t most, double lost) {
    return 2.0 * double((k + kStep - 1) / kStep) + 2.2 * double(std::min(k, most)) + lost;
  };
  if (compute == Compute::bf16x6) return std::max(strict, parts(mixed ? 2 * kStep : kStep, 12.0));
  if (compute == Compute::f16x3) return std::max(strict, parts(2 * kStep, 24.0));
  return std::max(parts(kStep, 12.0), 0x1p14 * (1 + 0x1p-10) + 2.0 * double(k) + 8.0);
}

/// The sum of sizes, and the largest.
struct Extent {
  double sum = 0, largest = 0;

  void add(double size) { sum += size, largest = std::max(largest, size); }
};

/// What parts lose beside that of row i of A and column j of B: below 2^-133 bf16 has nothing, and f16 loses what is
/// below 2^-38 of the line's largest element.
double lost_parts(Compute compute, const Extent& row, const Extent& column) {
  if (compute == Compute::strict) return 0;
  const double tiny = 0x1p-133 * (row.sum + column.sum);
  return tiny + (compute == Compute::f16x3 ? 0x1p-38 * (row.largest * column.sum + row.sum * column.largest) : 0.0);
}

/// Rows of D in arithmetic of type W; without bounds when every sum is exact.
template <class T, class D, class U, class W>
class Reference {
  using S = Scalar<D>;
  static constexpr bool kMixed = !std::is_same_v<T, U>;
  static constexpr double kRoundoff = (kNarrow<T> && !kMixed ? 2 : 1) * kUnitRoundoff<S>;

 public:
  Reference(const GemmDesc& desc, S alpha, S beta, const D* c, bool exact, const std::vector<double>& bias,
            const std::vector<double>& aux)
      : desc_(desc),
        layout_(layout_of(desc)),
        alpha_(alpha),
        beta_(beta),
        c_(c),
        exact_(exact),
        bias_(bias),
        aux_(aux),
        relative_(roundoffs(desc.compute, desc.k, kMixed) * (kRoundoff + double(std::numeric_limits<W>::epsilon()))),
        underflow_(double((desc.compute == Compute::strict ? 1 : 6) * desc.k + 4) * (std::abs(double(alpha)) + 1) *
                   Numbers<S>::kLeast) {}

  Expected<D> product(const T* a, const U* b) {
    const bool has_product = alpha_ != S(0) && desc_.k > 0, bounded = has_product && !exact_;
    for (std::int64_t l = 0; l < desc_.batch; ++l) {
      const auto wide_a = has_product ? packed<W>(layout_.a, a, l) : std::vector<W>();
      const auto wide_b = has_product ? packed<W>(layout_.b, b, l) : std::vector<W>();
      const auto size_a = bounded ? magnitudes(wide_a) : std::vector<double>();
      const auto size_b = bounded ? magnitudes(wide_b) : std::vector<double>();
      std::vector<Extent> columns(std::size_t(desc_.n));
      if (bounded)
        for (std::size_t e = 0; e < size_b.size(); ++e) columns[e % columns.size()].add(size_b[e]);
      for (std::int64_t i = 0; i < desc_.m; ++i) {
        std::vector<W> sum(std::size_t(desc_.n), 0);
        std::vector<double> size(std::size_t(desc_.n), 0);
        if (has_product) multiply_row<W>(desc_.n, desc_.k, wide_a.data() + i * desc_.k, wide_b.data(), sum.data());
        if (bounded) multiply_row<double>(desc_.n, desc_.k, size_a.data() + i * desc_.k, size_b.data(), size.data());
        Extent row;
        if (bounded)
          for (std::int64_t p = 0; p < desc_.k; ++p) row.add(size_a[std::size_t(i * desc_.k + p)]);
        for (std::int64_t j = 0; j < desc_.n; ++j)
          add(l, i, j, has_product ? W(alpha_) * sum[std::size_t(j)] : W(0),
              std::abs(double(alpha_)) * size[std::size_t(j)],
              std::abs(double(alpha_)) * lost_parts(desc_.compute, row, columns[std::size_t(j)]));
      }
    }
    return std::move(expected_);
  }

 private:
  /// The next element, of a product whose terms are of that size together, beside what is `lost`.
  void add(std::int64_t l, std::int64_t i, std::int64_t j, W product, double size, double lost) {
    const W old = beta_ == S(0) ? W(0) : W(beta_) * W(wide(c_[layout_.c.at(l, i, j)]));
    const bool per_row = desc_.bias == Bias::per_row;
    const std::int64_t count = per_row ? desc_.m : desc_.n;
    const W bias = bias_.empty() ? W(0) : W(bias_[std::size_t(l * count + (per_row ? i : j))]);
    const W value = product + old + bias;
    const double bound =
        exact_ ? 0.0 : relative_ * (size + std::abs(double(old)) + std::abs(double(bias))) + underflow_ + lost;
    if (desc_.aux == Aux::store) expected_.aux.push_back(value), expected_.aux_bound.push_back(bound);
    if (desc_.aux == Aux::derivative) {
      const W x = W(aux_[expected_.value.size()]);
      expected_.value.push_back(value * derived(desc_.activation, x));
      if (!exact_) expected_.bound.push_back(derived_bound<S>(desc_.activation, x, value, bound));
      return;
    }
    expected_.value.push_back(activated(desc_.activation, value));
    if (!exact_) expected_.bound.push_back(activated_bound<S>(desc_.activation, value, bound));
  }

  const GemmDesc& desc_;
  GemmLayout layout_;
  S alpha_, beta_;
  const D* c_;
  bool exact_;
  const std::vector<double>& bias_;
  const std::vector<double>& aux_;
  double relative_, underflow_;
  Expected<D> expected_;
};

}  // namespace

/// The bound is that of N. Higham, "Accuracy and Stability of Numerical Algorithms", 3.5: k products and sums in any
/// order, then alpha, beta and the last sums, give gamma(k + 3) <= (k + 4) u; twice that for types of 16 bits, whose
/// products are exact and whose sums may be cut off. Added to it: the reference's own error, and a denormal number for
/// each product that may underflow.
template <class T, class D, class U>
Expected<D> gemm_reference(const GemmDesc& desc, Scalar<D> alpha, const T* a, const U* b, Scalar<D> beta, const D* c,
                           bool exact, const std::vector<double>& bias, const std::vector<double>& aux) {
  if (exact)  // double is fast, and exact in any type
    return Reference<T, D, U, double>(desc, alpha, beta, c, exact, bias, aux).product(a, b);
  return Reference<T, D, U, Wide<D>>(desc, alpha, beta, c, exact, bias, aux).product(a, b);
}

#define TESSERA_TEST_INSTANTIATE(T, D, U)                                                                        \
  template Expected<D> gemm_reference(const GemmDesc&, Scalar<D>, const T*, const U*, Scalar<D>, const D*, bool, \
                                      const std::vector<double>&, const std::vector<double>&)
TESSERA_TEST_INSTANTIATE(float, float, float);
TESSERA_TEST_INSTANTIATE(double, double, double);
TESSERA_TEST_INSTANTIATE(float16, float16, float16);
TESSERA_TEST_INSTANTIATE(float16, float, float16);
TESSERA_TEST_INSTANTIATE(bfloat16, bfloat16, bfloat16);
TESSERA_TEST_INSTANTIATE(bfloat16, float, bfloat16);
TESSERA_TEST_INSTANTIATE(float, float, bfloat16);
TESSERA_TEST_INSTANTIATE(bfloat16, float, float);
TESSERA_TEST_INSTANTIATE(float, float, float16);
TESSERA_TEST_INSTANTIATE(float16, float, float);
TESSERA_TEST_INSTANTIATE(double, double, float);
TESSERA_TEST_INSTANTIATE(float, double, double);
#undef TESSERA_TEST_INSTANTIATE

}  // namespace tessera::test
