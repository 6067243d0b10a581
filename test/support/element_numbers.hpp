// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The element types as sets of numbers. What std::numeric_limits tells of f32 and f64 it does not tell of those of 16
/// bits, and the library's own conversions are under test.
#pragma once

#include <tessera/dtype.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tessera::test {

/// The type that the references compute in: products of two T are exact or nearly so.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < sizeof(double)), double, long double>;

/// Types that are stored alone, and computed on in f32.
template <class T>
inline constexpr bool kNarrow = sizeof(T) == 2;

/// A type of floating-point numbers.
template <class T>
struct Numbers {
  static constexpr int kDigits = std::numeric_limits<T>::digits;  ///< significant bits
  static constexpr double kLeast = std::numeric_limits<T>::denorm_min();
  static constexpr double kLeastNormal = std::numeric_limits<T>::min();
  static constexpr double kLargest = std::numeric_limits<T>::max();
};
template <>
struct Numbers<float16> {
  static constexpr int kDigits = 11;
  static constexpr double kLeast = 0x1p-24, kLeastNormal = 0x1p-14, kLargest = 65504.0;
};
template <>
struct Numbers<bfloat16> {
  static constexpr int kDigits = 8;
  static constexpr double kLeast = 0x1p-133, kLeastNormal = 0x1p-126, kLargest = 0x1.fep127;
};

/// A number for an operand: that value, or one beside it where T does not have it.
template <class T>
T number(double value) {
  if constexpr (kNarrow<T>)
    return T(float(value));
  else
    return T(value);
}

/// The number that an element is.
template <class T>
Wide<T> wide(T x) {
  if constexpr (kNarrow<T>) {
    constexpr int kFraction = Numbers<T>::kDigits - 1;
    const int magnitude = x.bits & 0x7fff, exponent = magnitude >> kFraction;
    const int fraction = magnitude & ((1 << kFraction) - 1);
    double value = std::ldexp(exponent == 0 ? fraction : fraction + (1 << kFraction), std::max(exponent, 1) - 1);
    value *= Numbers<T>::kLeast;
    if (exponent == 0x7fff >> kFraction) value = fraction == 0 ? INFINITY : NAN;
    return (x.bits & 0x8000) != 0 ? -value : value;
  } else {
    return x;
  }
}

/// A value after its one rounding to a T of 16 bits: to nearest, ties to even, infinite beyond the largest number.
/// Values of other types are rounded while they are computed: they stay as they are, up to the largest number.
template <class T>
Wide<T> stored(Wide<T> value) {
  if constexpr (kNarrow<T>) {
    if (value == 0.0 || !std::isfinite(value)) return value;
    const double unit = std::max(std::ldexp(1.0, std::ilogb(value) + 1 - Numbers<T>::kDigits), Numbers<T>::kLeast);
    const double rounded = std::nearbyint(value / unit) * unit;
    return std::abs(rounded) > Numbers<T>::kLargest ? std::copysign(INFINITY, value) : rounded;
  } else {
    return std::isinf(T(value)) ? Wide<T>(std::copysign(INFINITY, value)) : value;
  }
}

}  // namespace tessera::test
