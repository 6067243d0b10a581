// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stored.hpp"

#include "npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tessera::npy {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

/// Calls body(std::type_identity<S>{}) for the type S of the numbers.
template <class Body>
decltype(auto) with_stored(Stored stored, Body&& body) {
  switch (stored) {
    case Stored::boolean:
      return body(std::type_identity<bool>{});
    case Stored::u8:
      return body(std::type_identity<std::uint8_t>{});
    case Stored::i8:
      return body(std::type_identity<std::int8_t>{});
    case Stored::u16:
      return body(std::type_identity<std::uint16_t>{});
    case Stored::i16:
      return body(std::type_identity<std::int16_t>{});
    case Stored::u32:
      return body(std::type_identity<std::uint32_t>{});
    case Stored::i32:
      return body(std::type_identity<std::int32_t>{});
    case Stored::u64:
      return body(std::type_identity<std::uint64_t>{});
    case Stored::i64:
      return body(std::type_identity<std::int64_t>{});
    case Stored::f16:
      return body(std::type_identity<float16>{});
    case Stored::f32:
      return body(std::type_identity<float>{});
    case Stored::f64:
      return body(std::type_identity<double>{});
    case Stored::bf16:
      return body(std::type_identity<bfloat16>{});
  }
  throw std::invalid_argument("no such type of numbers");
}

/// A number of type S from its bytes in a file; any byte but 0 is true.
template <class S>
S load(const std::byte* at, bool swapped) {
  if constexpr (std::is_same_v<S, bool>) {
    return *at != std::byte{0};
  } else {
    std::array<std::byte, sizeof(S)> raw;
    std::memcpy(raw.data(), at, sizeof(S));
    if (swapped) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<S>(raw);
  }
}

/// Significant bits of a type of elements.
template <Element T>
constexpr int kDigits = [] {
  int digits = 0;
  for (double unit = kUnitRoundoff<T>; unit < 1.0; unit *= 2.0) ++digits;
  return digits;
}();

/// Whether every integer up to the size of `value` is one of T.
template <class T, class S>
bool is_exact(S value) {
  if constexpr (std::numeric_limits<S>::digits <= kDigits<T>) return true;
  constexpr std::int64_t limit = std::int64_t{1} << kDigits<T>;
  return std::cmp_less_equal(value, limit) && std::cmp_greater_equal(value, -limit);
}

template <class T, class S>
[[noreturn]] void fail_inexact(const std::filesystem::path& file, std::int64_t index, S value) {
  constexpr int digits = kDigits<T>;
  throw Error(file, "number " + std::to_string(index) + " is " + std::to_string(value) + ", beyond +-2^" +
                        std::to_string(digits) + ", up to which " + TypeTraits<T>::kName + " holds every integer: " +
                        (digits < 53 ? "compute in f64 (--dtype f64)" : "it cannot be computed with exactly"));
}

template <class S, Element T>
void convert(const std::filesystem::path& file, const std::byte* numbers, std::int64_t count, bool swapped,
             T* elements) {
  for (std::int64_t i = 0; i < count; ++i) {
    const S value = load<S>(numbers + std::size_t(i) * sizeof(S), swapped);
    if constexpr (std::is_integral_v<S> && !std::is_same_v<S, bool>)
      if (!is_exact<T>(value)) fail_inexact<T>(file, i, value);
    if constexpr (std::is_same_v<S, T>)
      elements[i] = value;  // a NaN keeps its bits
    else if constexpr (Element<S>)
      elements[i] = nearest<T>(double(number_of(value)));
    else
      elements[i] = nearest<T>(double(value));
  }
}

/// The integer of type S that is nearest to `value`, which is not NaN.
template <class S>
S clamped(double value, std::int64_t& count) {
  const double rounded = std::nearbyint(value);
  constexpr S lowest = std::numeric_limits<S>::min(), highest = std::numeric_limits<S>::max();
  const bool below = rounded < double(lowest), above = rounded >= std::ldexp(1.0, std::numeric_limits<S>::digits);
  count += below || above;
  return below ? lowest : above ? highest : S(rounded);
}

}  // namespace

const char* name_of(Stored stored) {
  constexpr const char* names[] = {"bool", "u8",  "i8",  "u16", "i16", "u32", "i32",
                                   "u64",  "i64", "f16", "f32", "f64", "bf16"};
  return names[std::size_t(stored)];
}

const char* descr_of(Stored stored) {
  constexpr const char* names[] = {"|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4",
                                   "<u8", "<i8", "<f2", "<f4", "<f8", "<u2"};
  return names[std::size_t(stored)];
}

std::string file_name_of(Stored stored) {
  return std::string(name_of(stored)) + (stored == Stored::bf16 ? std::string(" in ") + descr_of(stored) : "");
}

std::size_t size_of(Stored stored) {
  return with_stored(stored, []<class S>(std::type_identity<S>) { return sizeof(S); });
}

bool is_floating(Stored stored) {
  return with_stored(stored, []<class S>(std::type_identity<S>) { return Element<S>; });
}

Stored stored_of(DType dtype) { return stored_named(tessera::name_of(dtype)).value(); }

std::optional<Stored> stored_named(std::string_view name) {
  for (const Stored stored : kStoredTypes)
    if (name == name_of(stored)) return stored;
  return std::nullopt;
}

std::string stored_names() {
  std::string names;
  for (const Stored stored : kStoredTypes) names += (names.empty() ? "" : ", ") + std::string(name_of(stored));
  return names;
}

std::string range_of(Stored stored) {
  return with_stored(stored, []<class S>(std::type_identity<S>) -> std::string {
    if constexpr (Element<S>)
      throw std::invalid_argument("numbers of that type have no range");
    else
      return std::to_string(+std::numeric_limits<S>::min()) + ".." + std::to_string(+std::numeric_limits<S>::max());
  });
}

std::optional<DType> dtype_of(Stored stored) {
  for (const DType dtype : kDTypes)
    if (stored_of(dtype) == stored) return dtype;
  return std::nullopt;
}

DType computing_type(Stored stored) {
  if (const std::optional<DType> same = dtype_of(stored)) return *same;
  DType widest = WideTypes::kDTypes[0];
  for (const DType dtype : WideTypes::kDTypes) {
    widest = dtype;
    const int digits =
        with_types<WideTypes>(dtype, []<class T>(std::type_identity<T>) { return std::numeric_limits<T>::digits; });
    if (std::size_t(digits) >= 8 * size_of(stored)) break;
  }
  return widest;
}

std::unique_ptr<std::byte[]> to_elements(const std::filesystem::path& file, std::unique_ptr<std::byte[]> numbers,
                                         std::int64_t count, Stored stored, bool swapped, DType dtype) {
  if (stored == stored_of(dtype) && !swapped) return numbers;
  auto elements = std::make_unique_for_overwrite<std::byte[]>(std::size_t(count) * size_of(dtype));
  with_types(dtype, [&]<class T>(std::type_identity<T>) {
    with_stored(stored, [&]<class S>(std::type_identity<S>) {
      convert<S>(file, numbers.get(), count, swapped, reinterpret_cast<T*>(elements.get()));
    });
  });
  return elements;
}

template <Element T>
Numbers to_numbers(const std::filesystem::path& file, std::span<const T> elements, Stored stored) {
  Numbers result;
  result.bytes.resize(elements.size() * size_of(stored));
  with_stored(stored, [&]<class S>(std::type_identity<S>) {
    S* const numbers = reinterpret_cast<S*>(result.bytes.data());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double element = double(number_of(elements[i]));
      if constexpr (std::is_same_v<S, T>) {
        numbers[i] = elements[i];
      } else if constexpr (Element<S>) {
        numbers[i] = nearest<S>(element);
      } else {
        if (std::isnan(element))
          throw Error(file, "result " + std::to_string(i) + " is not a number, which no " + name_of(stored) +
                                " can say: write floating-point numbers (--output-type " + TypeTraits<T>::kName + ")");
        numbers[i] = clamped<S>(element, result.clamped);
      }
    }
  });
  return result;
}

template Numbers to_numbers(const std::filesystem::path&, std::span<const float>, Stored);
template Numbers to_numbers(const std::filesystem::path&, std::span<const double>, Stored);
template Numbers to_numbers(const std::filesystem::path&, std::span<const float16>, Stored);
template Numbers to_numbers(const std::filesystem::path&, std::span<const bfloat16>, Stored);

}  // namespace tessera::npy
