// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Activations of whole registers (tessera_activation has the formulas). Their functions err by less than what
/// docs/notes/bounds.md allows those of a mathematical library; test/conformance/activation_test.cpp goes through all
/// floats. NaN stays NaN, and at the infinities the result is the limit.
#pragma once

#include "../vector.hpp"

#include <tessera/plugin/problem.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::cpu {

/// Integers as wide as S, as many as a register has.
template <class S>
using Lanes = Vector<LaneNumber<S>, kLanes<S>>;

namespace detail {

template <class S>
inline constexpr LaneNumber<S> kSign = std::numeric_limits<LaneNumber<S>>::min();
template <class S>
inline Lanes<S> bits(Vector<S> x) {
  return reinterpret_cast<Lanes<S>>(x);
}
template <class S>
inline Vector<S> magnitude(Vector<S> x) {
  return reinterpret_cast<Vector<S>>(bits<S>(x) & ~kSign<S>);
}
/// The magnitude, which has no sign, with the sign of the other.
template <class S>
inline Vector<S> with_sign(Vector<S> x, Vector<S> other) {
  return reinterpret_cast<Vector<S>>(bits<S>(x) | (bits<S>(other) & kSign<S>));
}
/// At most this; NaN stays.
template <class S>
inline Vector<S> limited(Vector<S> x, S most) {
  return x > most ? most - Vector<S>{} : x;
}

/// 2^n for normal results.
template <class S>
inline Vector<S> power_of_two(Lanes<S> n) {
  using Limits = std::numeric_limits<S>;
  return reinterpret_cast<Vector<S>>((n + LaneNumber<S>(Limits::max_exponent - 1)) << (Limits::digits - 1));
}

/// ln 2 = high + low; integers of 10 bits times `high` are exact.
template <class S>
struct LogarithmOfTwo;
template <>
struct LogarithmOfTwo<float> {
  static constexpr auto high = 0x1.62ep-1f, low = 0x1.0bfbe8p-15f;
  static constexpr int terms = 7;  ///< of the Taylor series; the next is below u / 4 of the sum
};
template <>
struct LogarithmOfTwo<double> {
  static constexpr auto high = 0x1.62e42fefa38p-1, low = 0x1.ef35793c7673p-45;
  static constexpr int terms = 13;
};

/// e^x = 2^n (1 + p), p between -0.3 and 0.42.
template <class S>
struct Exponential {
  Vector<S> p;
  Lanes<S> n;
};

/// |x| is below 1000. p errs by 2 u |p|: x - n ln 2 (W. J. Cody and W. Waite, Software Manual for the Elementary
/// Functions, 1980, chapter 6) goes into a Taylor series.
template <class S>
inline Exponential<S> exponential(Vector<S> x) {
  using Ln2 = LogarithmOfTwo<S>;
  constexpr S kRound = S(3) * S(std::int64_t{1} << (std::numeric_limits<S>::digits - 2));  // x + kRound is an integer
  const Vector<S> shifted = x * S(1.44269504088896340736) + kRound, n = shifted - kRound;
  const Vector<S> r = x - n * Ln2::high - n * Ln2::low;
  S inverse_factorial[Ln2::terms + 1];
  double factorial = 1.0;
  for (int k = 0; k <= Ln2::terms; factorial *= ++k) inverse_factorial[k] = S(1.0 / factorial);
  Vector<S> sum = inverse_factorial[Ln2::terms] - Vector<S>{};
#pragma GCC unroll 16
  for (int k = Ln2::terms - 1; k > 1; --k) sum = sum * r + inverse_factorial[k];
  return {r + r * r * sum, bits<S>(shifted) - bits<S>(kRound - Vector<S>{})};
}

/// e^-x for x >= 0; 0 where that is about to become denormal.
template <class S>
inline Vector<S> decay(Vector<S> x) {
  constexpr S kMost = S(std::numeric_limits<S>::max_exponent == 128 ? 87 : 708);
  const Exponential<S> e = exponential<S>(-limited<S>(x, kMost));
  return x > kMost ? Vector<S>{} : (S(1) + e.p) * power_of_two<S>(e.n);
}

template <class S>
struct ErrorFunction;
/// x P(x^2) / Q(x^2) for |x| <= 3.92, fitted so that the largest relative error is least, 0.48 u; beyond, 1 is as near.
/// All coefficients are positive: no step loses more than its rounding.
template <>
struct ErrorFunction<float> {
  static Vector<float> of(Vector<float> x) {
    constexpr std::array kP = {0x1.20dd74p+0f, 0x1.791b8cp-3f,  0x1.a978e4p-5f,
                               0x1.cb5898p-9f, 0x1.261554p-12f, 0x1.1bf25ap-19f};
    constexpr std::array kQ = {1.0f, 0x1.fc6f4ep-2f, 0x1.c8d85ep-4f, 0x1.d93644p-7f, 0x1.20ecaep-10f, 0x1.43517ep-15f};
    const auto a = magnitude<float>(x), square = a * a;
    auto p = kP.back() - decltype(x){}, q = kQ.back() - decltype(x){};
#pragma GCC unroll 8
    for (int k = int(kP.size()) - 2; k >= 0; --k)
      p = p * square + kP[std::size_t(k)], q = q * square + kQ[std::size_t(k)];
    return with_sign<float>(a > 3.92f ? 1.0f - decltype(x){} : a * p / q, x);
  }
};
/// The Taylor series at the nearest multiple of 1/64: its terms are Hermite polynomials times e^(-r^2), and the first
/// that is left out stays below u / 2.
template <>
struct ErrorFunction<double> {
  static constexpr int kSteps = 64, kMost = 6;  ///< erf(6) is 1 but for u / 5
  struct Tables {
    double value[kSteps * kMost + 1], slope[kSteps * kMost + 1];
    Tables() {
      for (int i = 0; i <= kSteps * kMost; ++i) {
        const double r = double(i) / kSteps;
        value[i] = std::erf(r), slope[i] = 1.12837916709551257390 * std::exp(-r * r);
      }
    }
  };

  static Vector<double> of(Vector<double> x) {
    static const Tables tables;
    constexpr double kRound = 0x1.8p52 / kSteps;  // x + kRound is a multiple of 1 / kSteps
    const auto a = limited<double>(magnitude<double>(x), kMost), shifted = a + kRound;
    const auto r = shifted - kRound, d = a - r, s = r * r;
    const auto place = bits<double>(shifted) - bits<double>(kRound - decltype(x){});
    decltype(x) value, slope;
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      const std::size_t i = std::size_t(place[lane]) <= kSteps * kMost ? std::size_t(place[lane]) : 0;  // 0: NaN
      value[lane] = tables.value[i], slope[lane] = tables.slope[i];
    }
    const auto h5 = r * ((4.0 * s - 20.0) * s + 15.0) * (-1.0 / 90), h4 = ((4.0 * s - 12.0) * s + 3.0) * (1.0 / 30);
    const auto h3 = r * (2.0 * s - 3.0) * (-1.0 / 6), h2 = (2.0 * s - 1.0) * (1.0 / 3);
    return with_sign<double>(value + slope * d * (1.0 + d * (d * (h2 + d * (h3 + d * (h4 + d * h5))) - r)), x);
  }
};

}  // namespace detail

template <class S>
inline Vector<S> relu(Vector<S> x) {
  return x < S(0) ? Vector<S>{} : x;
}

template <class S>
inline Vector<S> tanh(Vector<S> x) {
  const auto e = detail::exponential<S>(-2 * detail::limited<S>(detail::magnitude<S>(x), S(20)));
  const Vector<S> power = detail::power_of_two<S>(e.n), less = power * e.p + (power - S(1));  // e^(-2 |x|) - 1
  return detail::with_sign<S>(detail::magnitude<S>(less) / (S(2) + less), x);
}

template <class S>
inline Vector<S> sigmoid(Vector<S> x) {
  const Vector<S> e = detail::decay<S>(detail::magnitude<S>(x));
  return (x < S(0) ? e : S(1) - Vector<S>{}) / (S(1) + e);
}

namespace detail {

/// x * factor, whose limit is 0 where x is -Inf.
template <class S>
inline Vector<S> times(Vector<S> x, Vector<S> factor) {
  return x == -std::numeric_limits<S>::infinity() ? S(-0.0) - Vector<S>{} : x * factor;
}

}  // namespace detail

template <class S>
inline Vector<S> silu(Vector<S> x) {
  return detail::times<S>(x, sigmoid<S>(x));
}

template <class S>
inline Vector<S> gelu(Vector<S> x) {
  const Vector<S> erf = detail::ErrorFunction<S>::of(x * S(0.70710678118654752440));
  return detail::times<S>(x, S(0.5) + S(0.5) * erf);
}

template <class S>
inline Vector<S> gelu_tanh(Vector<S> x) {
  const Vector<S> inner = S(0.79788456080286535588) * (x + S(0.044715) * x * x * x);
  return detail::times<S>(x, S(0.5) + S(0.5) * tanh<S>(inner));
}

/// Derivatives of activations: those of tessera/plugin/epilogue.hpp.
template <class S>
inline Vector<S> relu_derivative(Vector<S> x) {
  const Vector<S> zero{}, one = S(1) - zero;
  return x <= S(0) ? zero : x > S(0) ? one : x;
}

namespace detail {

/// The logistic function and its derivative.
template <class S>
struct Logistic {
  Vector<S> level, slope;

  explicit Logistic(Vector<S> v) {
    const Vector<S> e = decay<S>(magnitude<S>(v)), sum = S(1) + e;
    level = (v < S(0) ? e : S(1) - Vector<S>{}) / sum, slope = e / (sum * sum);
  }
};

/// level + x slope factor, also where slope is 0 and another is infinite.
template <class S>
inline Vector<S> level_and_slope(Vector<S> level, Vector<S> x, Vector<S> slope, Vector<S> factor) {
  return slope == S(0) ? level : level + x * slope * factor;
}

}  // namespace detail

template <class S>
inline Vector<S> sigmoid_derivative(Vector<S> x) {
  return detail::Logistic<S>(x).slope;
}

template <class S>
inline Vector<S> tanh_derivative(Vector<S> x) {
  return S(4) * detail::Logistic<S>(S(2) * x).slope;
}

template <class S>
inline Vector<S> silu_derivative(Vector<S> x) {
  const detail::Logistic<S> logistic(x);
  return detail::level_and_slope<S>(logistic.level, x, logistic.slope, S(1) - Vector<S>{});
}

template <class S>
inline Vector<S> gelu_derivative(Vector<S> x) {
  const Vector<S> erf = detail::ErrorFunction<S>::of(x * S(0.70710678118654752440));
  const Vector<S> slope = S(0.39894228040143267794) * detail::decay<S>(S(0.5) * x * x);
  return detail::level_and_slope<S>(S(0.5) + S(0.5) * erf, x, slope, S(1) - Vector<S>{});
}

template <class S>
inline Vector<S> gelu_tanh_derivative(Vector<S> x) {
  constexpr S kTwo = S(1.59576912160573071176), kCubic = S(0.044715);
  const detail::Logistic<S> logistic(kTwo * (x + kCubic * x * x * x));
  return detail::level_and_slope<S>(logistic.level, x, logistic.slope, kTwo * (S(1) + S(3) * kCubic * x * x));
}

}  // namespace tessera::cpu
