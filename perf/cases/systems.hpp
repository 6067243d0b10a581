// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The systems of the cases, as the library is told them, and what follows for a problem.
#pragma once

#include "problem.hpp"

#include <tessera/system.hpp>

namespace tessera::perf {

StencilSystem system_of(const SystemShape& shape, DType dtype);

/// Fills in operands, work and traffic.
Problem resolve_system(Problem problem);

}  // namespace tessera::perf
