// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arguments that are read here and not by nanobind, whose TypeError lists signatures and names no argument.
#pragma once

#include "hints.hpp"

#include <tessera/dtype.hpp>
#include <tessera/taps.hpp>

#include <complex>
#include <cstdint>
#include <vector>

namespace tessera::python {

using Whole = Argument<"int">;
using Number = Argument<"float">;
using Wholes = Argument<"collections.abc.Sequence[int]">;
using SomeTaps = Argument<"Taps">;

/// These throw a TypeError "name = 'x', a str: must be ..." where the object is of another type.
std::int64_t whole(nb::handle object, const std::string& name, const std::string& advice = "");
/// The same where the library takes an int; a value_error where it does not fit.
int small_whole(nb::handle object, const char* name, const std::string& advice = "");
double number(nb::handle object, const std::string& name);
/// A number for elements of a type: a real one where that is real.
std::complex<double> number_for(DType dtype, nb::handle object, const std::string& name);
std::vector<std::int64_t> wholes(nb::handle object, const std::string& name);
const Taps& taps_of(nb::handle object);

}  // namespace tessera::python
