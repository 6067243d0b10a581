// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Measured problems and offers as a backend sees them.
#pragma once

#include "problem.hpp"

#include <tessera/plugin/parameters.hpp>
#include <tessera/plugin/problem.hpp>

#include <string>

namespace tessera::perf {

/// The problem as the core hands it to a backend.
plugin::GemmProblem gemm_problem(const Problem& problem);
plugin::StencilProblem stencil_problem(const Problem& problem);

/// "multistage" of "multistage:tile_m=128".
std::string name_of_algorithm(const std::string& text);
plugin::GivenParameters parameters_of(const std::string& text);

}  // namespace tessera::perf
