// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backends that can be used here, asked of the registry.
#pragma once

#include "report.hpp"

#include <tessera/context.hpp>

#include <string>
#include <vector>

namespace showcase {

struct Backend {
  std::string name;
  tessera::Context context;
  std::vector<std::string> gemm_algorithms;
  std::vector<std::string> stencil_algorithms;
  std::vector<std::string> system_algorithms;
};

/// Prints a line for each backend found and makes a context on each that is usable. A backend that
/// TESSERA_REQUIRE_BACKENDS (names separated by commas) asks for and that is not usable is a failure.
std::vector<Backend> open_backends(Report& report);

}  // namespace showcase
