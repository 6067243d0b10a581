// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arguments of Python as values. What does not fit is refused: by TypeError where the type is wrong, by ValueError
/// where the value is.
#pragma once

#include "arrays.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::python {

/// What repr() says, of many characters the first; always UTF-8.
std::string shown(nb::handle object);
/// "a list", "an int".
std::string kind_of(nb::handle object);

/// "name = value, a kind: must be `must`".
[[noreturn]] void refuse_type(const std::string& name, nb::handle value, const std::string& must);
/// "name = value: must be `must`".
[[noreturn]] void refuse_value(const std::string& name, nb::handle value, const std::string& must);

/// The value of an integer, by __index__; none where it is not one, or beyond 64 bits.
std::optional<std::int64_t> as_integer(nb::handle object);
/// Whether it is an integer, of any size.
bool is_integer(nb::handle object);
/// The value of a real number; none where it is not one, or beyond float64.
std::optional<double> as_number(nb::handle object);
/// UTF-8; none where it is not text, or has a surrogate or NUL, which C does not take.
std::optional<std::string> as_text(nb::handle object);

/// Throw where as_integer and the others give none.
[[noreturn]] void refuse_integer(const std::string& name, nb::handle object);
[[noreturn]] void refuse_number(const std::string& name, nb::handle object);
[[noreturn]] void refuse_text(const std::string& name, nb::handle object);
std::string text_argument(nb::handle object, const std::string& name);

/// The entries of an iterable. `must`: what it has to be.
std::vector<nb::object> entries_of(nb::handle object, const std::string& name, const std::string& must);

/// As many entries as there are points, each by as_number and refuse_number, or the like.
template <class Value>
std::vector<Value> one_each(nb::handle given, const std::string& name, std::size_t count,
                            std::optional<Value> (*value_of)(nb::handle),
                            void (*refuse)(const std::string&, nb::handle)) {
  const std::vector<nb::object> entries = entries_of(given, name, "a number for each point, or None");
  if (entries.size() != count)
    throw nb::value_error((name + " has " + std::to_string(entries.size()) + " entries for " + std::to_string(count) +
                           " points: must be one for each, or None")
                              .c_str());
  std::vector<Value> values;
  for (const nb::object& entry : entries) {
    const std::optional<Value> value = value_of(entry);
    if (!value) refuse(name + "[" + std::to_string(values.size()) + "]", entry);
    values.push_back(*value);
  }
  return values;
}

/// Calls what takes an expression as its argument `value`. The library knows it by its groups of terms, so that errors
/// which begin with these are said of the argument.
template <class Body>
void blaming_value(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    const std::string said = error.what();
    if (said.find(": groups[") == std::string::npos) throw;
    throw Error(error.code(), "value: " + said);
  }
}

}  // namespace tessera::python
