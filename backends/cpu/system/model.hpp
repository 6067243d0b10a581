// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How long systems take, and how their rows are cut.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/system_problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// Rows of a plane that are made before the next plane, so that what its neighbours read again stays in half of the
/// second-level cache.
std::int64_t block_rows(const Machine& machine, const plugin::SystemProblem& problem);

int system_threads(const Machine& machine, const plugin::SystemProblem& problem);

/// The steps row by row. The coefficients are those of stencils: they were not fitted to systems.
double rows_seconds(const Machine& machine, const plugin::SystemProblem& problem);

/// The same for the algorithm "star": a pass a row.
double star_seconds(const Machine& machine, const plugin::SystemProblem& problem);

}  // namespace tessera::cpu
