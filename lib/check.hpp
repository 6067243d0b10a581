// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Errors of the form "argument = value: bound or remedy".
#pragma once

#include <tessera/plugin/error.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::core {

using plugin::Error;

[[noreturn]] inline void invalid(const std::string& argument, const std::string& value, const std::string& remedy) {
  throw Error(TESSERA_INVALID_ARGUMENT, argument + " = " + value + ": " + remedy);
}
[[noreturn]] inline void invalid(const std::string& argument, std::int64_t value, const std::string& remedy) {
  invalid(argument, std::to_string(value), remedy);
}

/// "extents[2]".
inline std::string indexed(const std::string& name, std::int64_t index) {
  return name + "[" + std::to_string(index) + "]";
}

/// "0.5", "-5e+199": as %g writes it, but with a point in any locale.
inline std::string text_of(double value, int digits = 6) {
  std::array<char, 64> text{};
  char* const end = text.data() + text.size();
  return {text.data(), std::to_chars(text.data(), end, value, std::chars_format::general, digits).ptr};
}

/// "1234.50": the same for %f, with so many digits behind the point.
inline std::string fixed_text_of(double value, int digits) {
  std::array<char, 352> text{};  // the largest double has 309 digits before it
  char* const end = text.data() + text.size();
  return {text.data(), std::to_chars(text.data(), end, value, std::chars_format::fixed, digits).ptr};
}

inline std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

/// "7, 1".
inline std::string join(const std::int64_t* values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text;
}

/// The same, of many the first few and how many more there are.
inline std::string join_few(const std::vector<std::string>& items) {
  constexpr std::size_t kMost = 8;
  if (items.size() <= kMost) return join(items);
  const std::vector<std::string> few(items.begin(), items.begin() + kMost);
  return join(few) + " and " + std::to_string(items.size() - kMost) + " more";
}

inline void at_least(const std::string& argument, std::int64_t value, std::int64_t bound, const char* meaning = "") {
  if (value < bound) invalid(argument, value, "must be at least " + std::to_string(bound) + meaning);
}

inline void one_of(const std::string& argument, std::int64_t value, std::int64_t first, std::int64_t last,
                   const char* names) {
  if (value < first || value > last) invalid(argument, value, std::string("must be one of ") + names);
}

}  // namespace tessera::core
