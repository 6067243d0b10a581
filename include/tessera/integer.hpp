// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Integer: sizes and distances of descriptors, from whatever integral type a program counts in.
#pragma once

#include <tessera/error.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera {

/// A whole number of 64 bits. Any integral type becomes one without a cast or a warning, `.m = v.size()` say. What does
/// not fit is an Error, or does not compile where the value is a constant. It is a std::int64_t wherever one is asked
/// for. A negative size is refused where the descriptor is used, by its name.
class Integer {
 public:
  constexpr Integer() = default;
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Integer(T value) : value_(checked(value)) {}
  constexpr operator std::int64_t() const { return value_; }

 private:
  template <class T>
  static constexpr std::int64_t checked(T value) {
    static_assert(sizeof(T) <= sizeof(std::int64_t), "descriptors hold whole numbers of 64 bits");
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t))
      if (value > T{(std::numeric_limits<std::int64_t>::max)()}) refuse(value);
    return std::int64_t(value);
  }
  [[noreturn]] static void refuse(std::uint64_t value) {
    throw Error(ErrorCode::invalid_argument,
                "a size or distance of " + std::to_string(value) +
                    ": must be at most 9223372036854775807; was a larger number subtracted from an unsigned one?");
  }

  std::int64_t value_ = 0;
};

/// One number for each axis: a vector that takes them, and ranges of them, in any integral type.
class Integers : public std::vector<std::int64_t> {
 public:
  Integers() = default;
  Integers(std::initializer_list<Integer> values) : std::vector<std::int64_t>(values.begin(), values.end()) {}
  template <std::input_iterator Iterator>
  Integers(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(Integer(*first));
  }
  template <std::ranges::input_range Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, Integers>) Integers(const Range& values)
      : Integers(std::ranges::begin(values), std::ranges::end(values)) {}
};

}  // namespace tessera
