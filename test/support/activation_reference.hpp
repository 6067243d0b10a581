// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What an activation makes of a number, and of its error.
#pragma once

#include "element_numbers.hpp"

#include <tessera/gemm.hpp>

#include <cmath>
#include <limits>

namespace tessera::test {

/// The formulas of tessera_activation, in forms without cancellation.
template <class W>
W activated(Activation activation, W x) {
  if (x != x) return x;
  const bool low = x == -std::numeric_limits<W>::infinity();
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : W(0);
    case Activation::gelu:
      return low ? W(0) : x / 2 * std::erfc(-x * W(0.707106781186547524400844362104849L));
    case Activation::gelu_tanh:
      return low ? W(0)
                 : x / (1 + std::exp(-2 * W(0.797884560802865355879892119868764L) * (x + W(0.044715L) * x * x * x)));
    case Activation::silu:
      return low ? W(0) : x / (1 + std::exp(-x));
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return std::numeric_limits<W>::quiet_NaN();
}

/// Their derivatives, that of relu 0 at 0.
template <class W>
W derived(Activation activation, W x) {
  if (x != x) return x;
  const W twice = 2 * W(0.797884560802865355879892119868764L), v = twice * (x + W(0.044715L) * x * x * x);
  const auto logistic = [](W y) { return 1 / (1 + std::exp(-y)); };
  const auto slope = [&](W y) { return logistic(y) * logistic(-y); };
  const auto times = [](W factor, W falling) { return falling == 0 ? W(0) : factor * falling; };
  switch (activation) {
    case Activation::none:
      return 1;
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::gelu:
      return std::erfc(-x * W(0.707106781186547524400844362104849L)) / 2 +
             times(x, std::exp(-x * x / 2) * W(0.398942280401432677939946059934382L));
    case Activation::gelu_tanh:
      return logistic(v) + times(x * twice * (1 + 3 * W(0.044715L) * x * x), slope(v));
    case Activation::silu:
      return logistic(x) + times(x, slope(x));
    case Activation::sigmoid:
      return slope(x);
    case Activation::tanh:
      return 4 * slope(2 * x);
  }
  return std::numeric_limits<W>::quiet_NaN();
}

/// What y act'(x) may err by where y errs by `bound` and x is exact, computed in S: see docs/notes/bounds.md. NaN where
/// y is infinite and the derivative may be computed as 0 or of the other sign.
template <class S, class W>
double derived_bound(Activation activation, W x, W y, double bound) {
  const double slope = std::abs(double(derived(activation, x)));
  if (activation == Activation::none || activation == Activation::relu || !std::isfinite(x)) return slope * bound;
  constexpr double kFew = 24 * (kUnitRoundoff<S> + double(std::numeric_limits<W>::epsilon()));
  if (std::isinf(y) && slope <= kFew + Numbers<S>::kLeastNormal) return std::numeric_limits<double>::quiet_NaN();
  return slope * bound + (kFew + Numbers<S>::kLeastNormal) * (std::abs(double(y)) + bound) + Numbers<S>::kLeastNormal;
}

/// The largest slope of an activation, rounded up.
inline double steepest(Activation activation) {
  switch (activation) {
    case Activation::gelu:
    case Activation::gelu_tanh:
      return 1.13;  // at sqrt(2)
    case Activation::silu:
      return 1.1;  // at 2.4
    case Activation::sigmoid:
      return 0.25;
    default:
      return 1.0;
  }
}

/// What act(x) may err by where x errs by `bound`, computed in S: see docs/notes/bounds.md.
template <class S, class W>
double activated_bound(Activation activation, W x, double bound) {
  if (activation == Activation::none) return bound;
  if (!std::isfinite(x)) return 0.0;  // at its end a function has its limit
  if (activation == Activation::relu) return bound;
  constexpr double kFew = 8 * (kUnitRoundoff<S> + double(std::numeric_limits<W>::epsilon()));
  const double size = std::abs(double(x)) + bound + std::abs(double(activated(activation, x)));
  return steepest(activation) * bound + kFew * size + Numbers<S>::kLeastNormal;
}

}  // namespace tessera::test
