// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Numbers as a command line spells them. `what` is what a message says the text is or is part of. Throw
/// std::invalid_argument.
#pragma once

#include "stored.hpp"

#include <tessera/error.hpp>

#include <cstdint>
#include <string>

namespace tessera::cli {

/// The whole of `text` as a finite decimal number.
double parse_number(const std::string& text, const std::string& what);

/// The whole of `text` as a decimal number from 0 to 2^63 - 1.
std::int64_t parse_count(const std::string& text, const std::string& what);

/// The whole of `text` as a decimal number from -2^63 to 2^63 - 1.
std::int64_t parse_whole(const std::string& text, const std::string& what);

/// "f32, f64, f16, bf16".
std::string element_names();

/// The type of that name, which must be one of `known`, a list with commas.
npy::Stored parse_type(const std::string& text, const std::string& what, const std::string& known);

/// The element type of that name.
DType parse_element_type(const std::string& text, const std::string& what);

/// The finite number itself, which must be finite as an element, too.
double fitting(const std::string& what, double value, DType dtype);

}  // namespace tessera::cli
