// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stored.hpp"

#include "npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tessera::npy {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

/// In the order of their numbers.
using StoredTypes = std::tuple<bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                               std::int32_t, std::uint64_t, std::int64_t, float16, float, double, bfloat16>;
static_assert(std::tuple_size_v<StoredTypes> == std::size(kStoredTypes));

/// Calls body(std::type_identity<S>{}) for the type S of the numbers.
template <std::size_t I = 0, class Body>
decltype(auto) with_stored(Stored stored, Body&& body) {
  if constexpr (I + 1 < std::tuple_size_v<StoredTypes>)
    if (stored != kStoredTypes[I]) return with_stored<I + 1>(stored, std::forward<Body>(body));
  return body(std::type_identity<std::tuple_element_t<I, StoredTypes>>{});
}

constexpr struct {
  const char *ours, *numpys;
} kNames[] = {{"bool", "|b1"}, {"u8", "|u1"},  {"i8", "|i1"},  {"u16", "<u2"}, {"i16", "<i2"},
              {"u32", "<u4"},  {"i32", "<i4"}, {"u64", "<u8"}, {"i64", "<i8"}, {"f16", "<f2"},
              {"f32", "<f4"},  {"f64", "<f8"}, {"bf16", "<u2"}};

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

/// Every integer of at most this size is one of T.
template <Element T>
constexpr auto kExact = std::int64_t(1.0 / kUnitRoundoff<T>);

template <Element T, class S>
void require_exact(const std::filesystem::path& file, std::int64_t index, S value) {
  if (std::cmp_less_equal(value, kExact<T>) && std::cmp_greater_equal(value, -kExact<T>)) return;
  throw Error(file,
              "number " + std::to_string(index) + " is " + std::to_string(value) + ", beyond +-2^" +
                  std::to_string(std::ilogb(kExact<T>)) + ", up to which " + TypeTraits<T>::kName +
                  " holds every integer: " +
                  (kExact<T> < kExact<double> ? "compute in f64 (--dtype f64)" : "it cannot be computed with exactly"));
}

template <class S, Element T>
void convert(const std::filesystem::path& file, const std::byte* numbers, std::int64_t count, bool swapped,
             T* elements) {
  for (std::int64_t i = 0; i < count; ++i) {
    const S value = load<S>(numbers + std::size_t(i) * sizeof(S), swapped);
    if constexpr (std::is_integral_v<S> && !std::is_same_v<S, bool>) require_exact<T>(file, i, value);
    if constexpr (std::is_same_v<S, T>)
      elements[i] = value;  // a NaN keeps its bits
    else if constexpr (Element<S>)
      elements[i] = nearest<T>(number_of(value));
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

const char* name_of(Stored stored) { return kNames[std::size_t(stored)].ours; }

const char* descr_of(Stored stored) { return kNames[std::size_t(stored)].numpys; }

std::string file_name_of(Stored stored) {
  return std::string(name_of(stored)) + (stored == Stored::bf16 ? std::string(" in ") + descr_of(stored) : "");
}

std::size_t size_of(Stored stored) {
  return with_stored(stored, []<class S>(std::type_identity<S>) { return sizeof(S); });
}

Stored stored_of(DType dtype) { return stored_named(tessera::name_of(dtype)).value(); }

std::optional<Stored> stored_named(std::string_view name) {
  for (const Stored stored : kStoredTypes)
    if (name == name_of(stored)) return stored;
  return std::nullopt;
}

std::string stored_names() { return joined(kStoredTypes, ", ", name_of); }

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
  return dtype_of(stored).value_or(WideTypes::kDTypes[size_of(stored) <= 2 ? 0 : 1]);
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
      const double element = number_of(elements[i]);
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
