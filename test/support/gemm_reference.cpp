// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "reference.hpp"

#include <cmath>
#include <limits>

namespace tessera::test {

namespace {

/// Rows of a matrix one after another, in the wide type.
template <class W, class T>
std::vector<W> packed(const MatrixLayout& layout, const T* data, std::int64_t l) {
  std::vector<W> result;
  result.reserve(std::size_t(layout.rows * layout.columns));
  for (std::int64_t i = 0; i < layout.rows; ++i)
    for (std::int64_t j = 0; j < layout.columns; ++j) result.push_back(data[layout.at(l, i, j)]);
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

/// The reference in arithmetic of type W; without bounds when every sum is exact.
template <class T, class W>
Expected<T> reference_in(const GemmDesc& desc, T alpha, const T* a, const T* b, T beta, const T* c, bool exact) {
  const GemmLayout layout = layout_of(desc);
  const bool has_product = alpha != T(0) && desc.k > 0;
  const double terms = double(desc.k + 4);
  const double relative = terms * double(kUnitRoundoff<T> + std::numeric_limits<W>::epsilon());
  const double underflow = terms * (std::abs(double(alpha)) + 1) * double(std::numeric_limits<T>::denorm_min());
  Expected<T> expected;
  for (std::int64_t l = 0; l < desc.batch; ++l) {
    const auto wide_a = has_product ? packed<W>(layout.a, a, l) : std::vector<W>();
    const auto wide_b = has_product ? packed<W>(layout.b, b, l) : std::vector<W>();
    const bool bounded = has_product && !exact;
    const auto size_a = bounded ? magnitudes(wide_a) : std::vector<double>();
    const auto size_b = bounded ? magnitudes(wide_b) : std::vector<double>();
    for (std::int64_t i = 0; i < desc.m; ++i) {
      std::vector<W> sum(std::size_t(desc.n), 0);
      std::vector<double> magnitude(std::size_t(desc.n), 0);
      if (has_product) multiply_row(desc.n, desc.k, wide_a.data() + i * desc.k, wide_b.data(), sum.data());
      if (bounded) multiply_row(desc.n, desc.k, size_a.data() + i * desc.k, size_b.data(), magnitude.data());
      for (std::int64_t j = 0; j < desc.n; ++j) {
        const W old = beta == T(0) ? W(0) : W(beta) * W(c[layout.c.at(l, i, j)]);
        expected.value.push_back((has_product ? W(alpha) * sum[std::size_t(j)] : W(0)) + old);
        if (exact) continue;
        const double size = std::abs(double(alpha)) * magnitude[std::size_t(j)] + std::abs(double(old));
        expected.bound.push_back(relative * size + underflow);
      }
    }
  }
  return expected;
}

}  // namespace

/// The bound is that of N. Higham, "Accuracy and Stability of Numerical Algorithms", 3.5: k products and sums in any
/// order, then alpha, beta and the last sum, give gamma(k + 3) <= (k + 4) u. Added to it: the reference's own error,
/// and a denormal number for each product that may underflow.
template <class T>
Expected<T> gemm_reference(const GemmDesc& desc, T alpha, const T* a, const T* b, T beta, const T* c, bool exact) {
  if (exact) return reference_in<T, double>(desc, alpha, a, b, beta, c, exact);  // fast, and exact in any type
  return reference_in<T, Wide<T>>(desc, alpha, a, b, beta, c, exact);
}

template Expected<float> gemm_reference(const GemmDesc&, float, const float*, const float*, float, const float*, bool);
template Expected<double> gemm_reference(const GemmDesc&, double, const double*, const double*, double, const double*,
                                         bool);

}  // namespace tessera::test
