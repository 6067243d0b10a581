// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What tessera.jax registers with XLA, the compiler behind JAX: functions that its programs call.
#pragma once

#include <nanobind/nanobind.h>

namespace tessera::python {

/// `_jax_calls`: a name, the function for the host, and that for a device, of each.
void define_jax_calls(nanobind::module_& module);

}  // namespace tessera::python
