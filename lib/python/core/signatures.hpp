// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a function of the module takes, and why given arguments do not fit.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::python {

namespace nb = nanobind;

struct Parameter {
  std::string name, type;  ///< as the signature has them: "steps", "int"
  bool by_place = true, by_name = true, optional = false;
};

/// Of "def stencil(input: typing.Any, *, steps: int = \0) -> typing.Any". Without those of "*args" and "**kwargs".
std::vector<Parameter> parameters_of(std::string_view signature);

/// The arguments of a call: those without a name, then those of `names`, a tuple or null.
struct Given {
  std::span<PyObject* const> values;
  std::size_t by_place;
  PyObject* names;
};

/// Sets the exception of Python for a call whose arguments nanobind did not take: which one it is, its value, and what
/// it must be.
void set_misfit(nb::handle function, const Given& given);

}  // namespace tessera::python
