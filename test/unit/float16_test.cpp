// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The 16-bit types: every number of theirs, and the roundings to it, against arithmetic in double.

#include "element_numbers.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace own {
/// A type of the user's.
struct Half {
  std::uint16_t bits;
};
}  // namespace own

template <>
struct tessera::TypeTraits<own::Half> : tessera::TypeTraits<tessera::float16> {};

namespace tessera::test {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
constexpr std::uint16_t kInfinityBits = std::is_same_v<T, float16> ? 0x7c00 : 0x7f80;

template <class T>
bool is_nan(T x) {
  return (x.bits & 0x7fff) > kInfinityBits<T>;
}

/// Whether what lies between a number and the next one up goes to the right one of them, and the middle to the even
/// one.
template <class T>
bool rounds_between(std::uint16_t bits, std::uint16_t sign) {
  const auto next = std::uint16_t(bits + 1);
  const float low = float(T::from_bits(bits));
  float unit = float(T::from_bits(next)) - low;
  if (next == kInfinityBits<T>) unit = low - float(T::from_bits(std::uint16_t(bits - 1)));
  const float middle = low + unit / 2;
  const auto goes_to = [sign](float x, std::uint16_t magnitude) {
    return T(std::copysign(x, sign == 0 ? 1.0f : -1.0f)).bits == (magnitude | sign);
  };
  return goes_to(low, bits) && goes_to(std::nextafter(middle, 0.0f), bits) &&
         goes_to(middle, bits % 2 == 0 ? bits : next) && goes_to(std::nextafter(middle, kInfinity), next);
}

static_assert(float(float16(1.5f)) == 1.5f && float(bfloat16(1.5f)) == 1.5f);
static_assert(std::is_trivially_copyable_v<float16> && std::is_trivially_copyable_v<bfloat16>);
static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);
static_assert(kDType<own::Half> == kDType<float16> && std::is_same_v<Scalar<own::Half>, float>);
static_assert(!std::is_convertible_v<float, float16> && !std::is_convertible_v<bfloat16, float>);

}  // namespace

TEMPLATE_LIST_TEST_CASE("every number of 16 bits is a float, and that the same number", "[float16]", NarrowTypes) {
  std::vector<unsigned> wrong;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const TestType x = TestType::from_bits(std::uint16_t(bits));
    const float value = float(x);
    const TestType back(value);
    const bool right = is_nan(x) ? std::isnan(value) && is_nan(back) && std::signbit(value) == (bits >= 0x8000)
                                 : double(value) == wide(x) && back.bits == bits;
    if (!right) wrong.push_back(bits);
  }
  CHECK(wrong.empty());
}

TEMPLATE_LIST_TEST_CASE("rounding is to nearest, ties to even", "[float16]", NarrowTypes) {
  std::vector<unsigned> wrong;
  for (const std::uint16_t sign : {std::uint16_t{0}, std::uint16_t{0x8000}})
    for (std::uint16_t bits = 0; bits < kInfinityBits<TestType>; ++bits)
      if (!rounds_between<TestType>(bits, sign)) wrong.push_back(bits | sign);
  CHECK(wrong.empty());
}

TEMPLATE_LIST_TEST_CASE("infinities and NaN stay what they are", "[float16]", NarrowTypes) {
  CHECK(TestType(kInfinity).bits == kInfinityBits<TestType>);
  CHECK(TestType(-kInfinity).bits == (kInfinityBits<TestType> | 0x8000));
  CHECK(TestType(std::numeric_limits<float>::max()).bits == kInfinityBits<TestType>);
  CHECK(TestType(-0.0f).bits == 0x8000);
  // The payloads of NaN that rounding would make an infinity, or carry into the sign.
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    const TestType x(std::bit_cast<float>(bits));
    CHECK(is_nan(x));
    CHECK((x.bits >> 15) == (bits >> 31));
  }
}

}  // namespace tessera::test
