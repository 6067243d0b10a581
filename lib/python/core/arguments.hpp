// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arguments of Python as values. What does not fit is refused as "name = value: must be ...": by TypeError where the
/// type is wrong, by ValueError where the value is.
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

/// Both throw "name = value: must be `must`".
[[noreturn]] void refuse_type(const std::string& name, nb::handle value, const std::string& must);
[[noreturn]] void refuse_value(const std::string& name, nb::handle value, const std::string& must);

/// The value of an integer, by __index__; none where it is not one, or beyond 64 bits.
std::optional<std::int64_t> as_integer(nb::handle object);
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

}  // namespace tessera::python
