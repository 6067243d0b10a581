// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one place where failures become exceptions of Python: none of nanobind or of C++ reaches a user as it is.
#pragma once

#include <nanobind/nanobind.h>

namespace tessera::python {

/// Makes exceptions of C++ those of Python.
void define_failures();
/// Makes the functions and methods of a module say which argument does not fit, where nanobind says that some do not.
void stand_before_all(nanobind::handle scope);

}  // namespace tessera::python
