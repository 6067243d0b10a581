// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "numbers.hpp"

#include "clip.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace tessera::cli {
namespace {

/// Whether all of `text` is a number that `Value` can hold.
template <class Value>
bool read(const std::string& text, Value& value) {
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && behind == end;
}

}  // namespace

double parse_number(const std::string& text, const std::string& what) {
  double value = 0.0;
  if (!read(text, value) || !std::isfinite(value))
    throw std::invalid_argument(what + ": '" + npy::clip(text) + "' is not a finite number in the range of double");
  return value;
}

std::int64_t parse_count(const std::string& text, const std::string& what) {
  std::int64_t value = 0;
  if (!read(text, value) || value < 0)
    throw std::invalid_argument(what + ": '" + npy::clip(text) + "' is not a whole number from 0 to 2^63 - 1");
  return value;
}

std::int64_t parse_whole(const std::string& text, const std::string& what) {
  std::int64_t value = 0;
  if (!read(text, value))
    throw std::invalid_argument(what + ": '" + npy::clip(text) + "' is not a whole number from -2^63 to 2^63 - 1");
  return value;
}

std::string element_names() {
  std::string names;
  for (const DType dtype : kDTypes) names += (names.empty() ? "" : ", ") + std::string(name_of(dtype));
  return names;
}

npy::Stored parse_type(const std::string& text, const std::string& what, const std::string& known) {
  const std::optional<npy::Stored> type = npy::stored_named(text);
  if (type && known.find(text) != std::string::npos) return *type;
  throw std::invalid_argument(what + ": '" + npy::clip(text) + "' is not a type; there are " + known);
}

DType parse_element_type(const std::string& text, const std::string& what) {
  return npy::dtype_of(parse_type(text, what, element_names())).value();
}

double fitting(const std::string& what, double value, DType dtype) {
  const bool fits = with_types(
      dtype, [value]<class T>(std::type_identity<T>) { return std::isfinite(npy::number_of(npy::nearest<T>(value))); });
  if (fits) return value;
  throw std::invalid_argument(what + " = " + tessera::detail::text_of(value) + ": must be finite when rounded to " +
                              name_of(dtype));
}

}  // namespace tessera::cli
