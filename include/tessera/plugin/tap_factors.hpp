// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps that are products of a factor for each axis: separable filters, such as a Gaussian.
#pragma once

#include <tessera/plugin/tap_box.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// The box that taps fill, and the factors of each axis, in the order of the offsets; {1} on an axis that the box has
/// one place of. Sums of magnitudes are in (1/2, 1] but on `last`, the first axis with more places than one, which has
/// what the taps are longer or shorter: sums of the other axes' products, which come before, are no larger than what is
/// summed.
struct TapFactors {
  TapBox box;
  std::array<std::vector<double>, kAxes> factor;
  int last;
};

namespace detail {

/// The number of which all are whole multiples, each less than `most` times; else 0.
inline double common_divisor(const std::vector<double>& numbers, double most) {
  double common = 0.0, largest = 0.0;
  for (const double number : numbers) {
    double rest = std::abs(number);
    largest = (std::max)(largest, rest);
    while (rest != 0.0) common = std::exchange(rest, std::fmod(common, rest));
    if (common > 0.0 && !(largest / common < most)) return 0.0;  // it only becomes smaller
  }
  return common;
}

/// Numbers times the power of two with which their magnitudes have a sum in (1/2, 1]. Those that are whole multiples of
/// a number are as many units of a power of two, without common factors: sums of integers stay exact.
inline void make_primitive(std::vector<double>& numbers) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  double sum = 0.0;
  if (const double common = common_divisor(numbers, kExact); common > 0.0)
    for (double& number : numbers) number /= common;
  for (const double number : numbers) sum += std::abs(number);
  int exponent = 0;
  if (std::frexp(sum, &exponent) == 0.5) --exponent;
  for (double& number : numbers) number = std::ldexp(number, -exponent);
}

/// So many roundings of a tap may products be from it: as tables of factors, of products and of their sum have.
inline constexpr double kMostRoundings = 8.0;

/// Whether S holds a factor with its precision.
template <class S>
bool holds_factor(double factor) {
  return factor == 0.0 || std::isnormal(S(factor));
}

/// Whether products of factors in S stand for the taps within the error of as many sums. Let u be S's unit roundoff. By
/// taps in a box the error is at most (taps + 2) u times the sum of the products' magnitudes; by passes it is (count +
/// 1) u for each axis, with the factors' rounding. What is left is for the products that are not the taps,
/// kMostRoundings at most.
template <class S>
bool stands_for(const TapFactors& f, const std::vector<double>& taps) {
  constexpr double kUnit = double(std::numeric_limits<S>::epsilon()) / 2.0;
  double left = double(taps.size()) + 2.0;
  for (std::size_t axis = 0; axis < f.factor.size(); ++axis) {
    if (f.factor[axis].size() > 1) left -= double(f.factor[axis].size()) + 1.0;
    for (const double factor : f.factor[axis])
      if (!holds_factor<S>(factor)) return false;
  }
  constexpr double kOfCheck = 1.0;  // the rounding of the product below
  const double most = ((std::min)(left, kMostRoundings) - kOfCheck) * kUnit;
  const double* tap = taps.data();
  for (const double z : f.factor[0])
    for (const double y : f.factor[1])
      for (const double x : f.factor[2]) {
        const double error = std::abs(std::fma(z * y, x, -*tap)), magnitude = std::abs(*tap++);
        if (!(error <= most * magnitude)) return false;
      }
  return true;
}

/// From the taps on the lines through the largest one, which tap_at(place in the box) says. Those of the last axis are
/// over what the others have there.
template <class TapAt>
void find_factors(TapFactors& f, const Index3& centre, TapAt&& tap_at) {
  double others = 1.0;
  for (int axis = kAxes - 1; axis >= 0; --axis) {
    const auto a = std::size_t(axis);
    std::vector<double>& factor = f.factor[a];
    if (f.box.count[a] == 1) {
      factor = {1.0};
      continue;
    }
    Index3 at = centre;
    for (at[a] = 0; at[a] < f.box.count[a]; ++at[a]) factor.push_back(tap_at(at) / (axis == f.last ? others : 1.0));
    if (axis == f.last) continue;
    make_primitive(factor);
    others *= factor[std::size_t(centre[a])];
  }
}

}  // namespace detail

/// The factors of taps of a problem, if it may be summed in any order, the taps fill a box that has at least two axes,
/// and passes along these have no larger a bound of the error.
inline std::optional<TapFactors> tap_factors(const StencilProblem& p) {
  const std::optional<TapBox> box = p.ordered ? std::nullopt : filled_box(p.taps);
  if (!box) return {};
  TapFactors f{*box, {}, -1};
  int axes = 0;
  for (int axis = kAxes - 1; axis >= 0; --axis)
    if (box->count[std::size_t(axis)] > 1) f.last = axis, ++axes;
  if (axes < 2) return {};

  std::vector<double> taps(p.taps.size());
  Index3 centre{};
  double largest = 0.0;
  const auto place = [&](const Index3& at) {
    return std::size_t((at[0] * box->count[1] + at[1]) * box->count[2] + at[2]);
  };
  for (const Tap& tap : p.taps) {
    Index3 at = tap.offset;
    for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] -= box->first[axis];
    taps[place(at)] = tap.coefficient;
    if (!std::isfinite(tap.coefficient)) return {};
    if (std::abs(tap.coefficient) > largest) largest = std::abs(tap.coefficient), centre = at;
  }
  if (largest == 0.0) return {};

  const auto close = [&]<class T>(std::type_identity<T>) {
    detail::find_factors(f, centre, [&](const Index3& at) { return taps[place(at)]; });
    return detail::stands_for<Scalar<T>>(f, taps);
  };
  return with_types(p.dtype, close) ? std::optional(f) : std::nullopt;
}

}  // namespace tessera::plugin
