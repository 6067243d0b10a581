// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The 16-bit element types: storage, with conversions to and from float, and no arithmetic.
#pragma once

#include <tessera/cxx20.hpp>

#include <bit>
#include <cstdint>

namespace tessera {

/// IEEE 754 binary16: 1 sign bit, 5 of exponent, 10 of fraction. Largest finite value 65504, smallest normal 2^-14,
/// smallest subnormal 2^-24.
struct float16 {
  std::uint16_t bits;

  float16() = default;
  /// Rounds to nearest, ties to even. From 65520 on it is infinite; NaN stays NaN, with the upper bits of its payload.
  constexpr explicit float16(float value) : bits(rounded(value)) {}
  /// Exact.
  constexpr explicit operator float() const;
  /// The value of these 16 bits.
  static constexpr float16 from_bits(std::uint16_t bits) {
    float16 value{};
    value.bits = bits;
    return value;
  }

 private:
  static constexpr std::uint16_t rounded(float value);
};

/// bfloat16: the upper half of an IEEE 754 binary32, with its 8 bits of exponent and 7 of fraction.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  /// Rounds to nearest, ties to even. NaN stays NaN, with the upper bits of its payload.
  constexpr explicit bfloat16(float value) : bits(rounded(value)) {}
  /// Exact.
  constexpr explicit operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
  /// The value of these 16 bits.
  static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 value{};
    value.bits = bits;
    return value;
  }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto b = std::bit_cast<std::uint32_t>(value);
    if ((b & 0x7fffffff) > 0x7f800000) return std::uint16_t(b >> 16 | 0x40);  // NaN: quiet, not cut to Inf
    return std::uint16_t((b + 0x7fff + (b >> 16 & 1)) >> 16);
  }
};

constexpr float16::operator float() const {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = float(magnitude) * 0x1p-24f;  // exact
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

constexpr std::uint16_t float16::rounded(float value) {
  const auto b = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = b >> 16 & 0x8000, magnitude = b & 0x7fffffff;
  if (magnitude > 0x7f800000) return std::uint16_t(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000) return std::uint16_t(sign | 0x7c00);  // 65520 and more
  if (magnitude >= 0x38800000)                                       // 2^-14: normal
    return std::uint16_t(sign | (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13);
  // Subnormal: adding 0.5 leaves units of 2^-24 in the last place, and the addition rounds to nearest even.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
}

}  // namespace tessera
