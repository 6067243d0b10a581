// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps that are sums of a few products of factors, which separable sums take.
#pragma once

#include <tessera/plugin/tap_factors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// Taps are the sum of the terms, each of which is a product of its factors of each axis.
struct TapTerms {
  using Factors = std::array<std::vector<double>, kAxes>;
  TapBox box;
  std::vector<Factors> terms;
  int last;  ///< the axis that is summed last

  std::int64_t count() const { return std::int64_t(terms.size()); }
};

namespace detail {

/// Elimination makes errors grow: of f64 there would be too much.
using Wide = long double;

/// A matrix of taps, taken apart: what is left of it, and the sum of the terms' magnitudes.
struct TapRemainder {
  std::size_t rows, columns;
  std::vector<double> taps;
  std::vector<Wide> left{taps.begin(), taps.end()};
  std::vector<double> magnitude = std::vector<double>(taps.size());

  Wide& at(std::size_t i, std::size_t j) { return left[i * columns + j]; }

  /// Takes away a multiple of the column and of the row through the largest element (Gaussian elimination with complete
  /// pivoting), as factors of axes 1 and 2. Magnitudes of the latter have a sum in [1/2, 1).
  TapTerms::Factors take() {
    const auto largest =
        std::max_element(left.begin(), left.end(), [](Wide a, Wide b) { return std::abs(a) < std::abs(b); });
    const auto place = std::size_t(largest - left.begin());
    const std::size_t pivot_row = place / columns, pivot_column = place % columns;
    TapTerms::Factors f{std::vector<double>{1.0}, std::vector<double>(rows), std::vector<double>(columns)};
    double sum = 0.0;
    for (std::size_t j = 0; j < columns; ++j) sum += std::abs(f[2][j] = double(at(pivot_row, j) / *largest));
    int exponent = 0;
    std::frexp(sum, &exponent);
    for (double& factor : f[2]) factor = std::ldexp(factor, -exponent);
    for (std::size_t i = 0; i < rows; ++i) f[1][i] = std::ldexp(double(at(i, pivot_column)), exponent);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        at(i, j) -= Wide(f[1][i]) * f[2][j];
        magnitude[i * columns + j] += std::abs(f[1][i] * f[2][j]);
      }
    return f;
  }
};

/// Whether so many terms stand for the taps. In S with unit roundoff u, passes have an error of at most (columns + 1) u
/// and (terms * rows + 1) u of the products' magnitudes; dense sums of (taps + 2) u of the taps'. What is left is for
/// the taps that the terms do not give, kMostRoundings of each at most; the check itself rounds once a term.
template <class S>
bool stands_for(const TapRemainder& r, std::size_t terms) {
  constexpr double kUnit = double(std::numeric_limits<S>::epsilon()) / 2.0;
  const double of_passes = double(r.columns + terms * r.rows) + 2.0;
  const double of_check = double(terms) * double(std::numeric_limits<Wide>::epsilon());
  for (std::size_t i = 0; i < r.taps.size(); ++i) {
    const double tap = std::abs(r.taps[i]);
    const double most =
        (std::min)((double(r.taps.size()) + 2.0) * tap - of_passes * r.magnitude[i], kMostRoundings * tap);
    if (!(double(std::abs(r.left[i])) + of_check * r.magnitude[i] <= most * kUnit)) return false;
  }
  return true;
}

template <class S>
bool are_normal(const TapTerms::Factors& f) {
  return std::ranges::all_of(f[1], holds_factor<S>) && std::ranges::all_of(f[2], holds_factor<S>);
}

template <class S>
bool split_taps(const std::vector<double>& taps, TapTerms& t) {
  constexpr std::size_t kMostTerms = 4;
  if (common_divisor(taps, 2.0 / double(std::numeric_limits<S>::epsilon())) > 0.0) return false;
  TapRemainder r{std::size_t(t.box.count[1]), std::size_t(t.box.count[2]), taps};
  while (t.terms.size() < kMostTerms) {
    t.terms.push_back(r.take());
    if (!are_normal<S>(t.terms.back())) return false;
    if (stands_for<S>(r, t.terms.size())) return true;
  }
  return false;
}

}  // namespace detail

/// Those of a problem, if it may be summed in any order: one term as tap_factors() finds it, or up to four for
/// taps in a plane. With several, too, sums keep the bound of the error of dense ones, point by point: a term's
/// products may be larger than the taps, so this leaves out taps that are differences of much larger numbers. Taps that
/// are whole multiples of a number, whose dense sums of integers are exact, are not split.
inline std::optional<TapTerms> tap_terms(const StencilProblem& p) {
  if (auto f = tap_factors(p)) return TapTerms{f->box, {std::move(f->factor)}, f->last};
  const std::optional<TapBox> box = p.ordered ? std::nullopt : filled_box(p.taps);
  if (!box || box->count[0] > 1 || box->count[1] < 2 || box->count[2] < 2) return {};
  std::vector<double> taps(p.taps.size());
  for (const Tap& tap : p.taps) {
    if (!std::isfinite(tap.coefficient)) return {};
    const std::int64_t row = tap.offset[1] - box->first[1], column = tap.offset[2] - box->first[2];
    taps[std::size_t(row * box->count[2] + column)] = tap.coefficient;
  }
  TapTerms t{*box, {}, 1};
  const auto found =
      with_types(p.dtype, [&]<class T>(std::type_identity<T>) { return detail::split_taps<Scalar<T>>(taps, t); });
  return found ? std::optional(t) : std::nullopt;
}

}  // namespace tessera::plugin
