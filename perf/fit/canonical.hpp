// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Measured problems as a backend sees them.
#pragma once

#include "problem.hpp"

#include <tessera/plugin/problem.hpp>

namespace tessera::perf {

/// The problem as the core hands it to a backend.
plugin::GemmProblem gemm_problem(const Problem& problem);
plugin::StencilProblem stencil_problem(const Problem& problem);

}  // namespace tessera::perf
