// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arithmetic of the plain loops that step systems: each value comes with how far rounding may take the library's.
#pragma once

#include <tessera/dtype.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

namespace showcase {

/// A value in a wider type, and a bound of the error of what is computed in T.
template <tessera::Element T>
struct Bounded {
  std::conditional_t<std::is_same_v<T, float>, double, long double> value = 0;
  double error = 0.0;

  Bounded() = default;
  Bounded(T x) : value(x) {}
  double largest() const { return std::abs(double(value)) + error; }
};

/// A sum of products in whichever order it is made: it is off by at most its operations times the unit roundoff times
/// the sum of absolute values, besides what its values are off.
template <tessera::Element T>
class BoundedSum {
 public:
  BoundedSum& add(double coefficient, std::initializer_list<Bounded<T>> factors) {
    decltype(Bounded<T>::value) product = coefficient;
    double largest = std::abs(coefficient);
    for (const Bounded<T>& factor : factors) product *= factor.value, largest *= factor.largest();
    sum_.value += product;
    sum_.error += largest - std::abs(double(product));
    magnitude_ += largest;
    operations_ += 2 + 2 * factors.size();
    return *this;
  }
  Bounded<T> get() const {
    constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2, kSecondOrder = 1.01;
    Bounded<T> result = sum_;
    result.error += kSecondOrder * double(operations_) * (kUnit * magnitude_ + double(std::numeric_limits<T>::min()));
    return result;
  }

 private:
  Bounded<T> sum_;
  double magnitude_ = 0.0;
  std::size_t operations_ = 1;
};

template <tessera::Element T>
std::vector<Bounded<T>> bounded(const std::vector<T>& values) {
  return std::vector<Bounded<T>>(values.begin(), values.end());
}

/// The largest error in units of its bound; infinite where a value is not finite.
template <tessera::Element T>
double largest_ratio(const std::vector<T>& values, const std::vector<Bounded<T>>& expected) {
  double ratio = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(double(values[i] - expected[i].value));
    if (error == 0.0) continue;
    if (!(error < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
    ratio = std::max(ratio, error / expected[i].error);
  }
  return ratio;
}

}  // namespace showcase
