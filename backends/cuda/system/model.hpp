// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How long systems take.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/system_problem.hpp>

#include <string>

namespace tessera::cuda {

/// Bytes that a step must move: each level of each field that a stage reads, once, and what it writes.
double compulsory_bytes(const plugin::SystemProblem& problem);

/// The algorithm "direct".
double direct_seconds(const Machine& machine, const plugin::SystemProblem& problem);

/// Launches of the points of a step, and of a stage, each so many.
double launches_seconds(const Machine& machine, double launches);

/// Why kernels that go by rows of blocks cannot run on the domain; "" where they can.
std::string why_not_in_rows(const plugin::SystemProblem& problem);

/// Steps of such kernels at a part of the rate of memory, somewhat less where rows are not aligned.
double rows_at_rate_seconds(const Machine& machine, const plugin::SystemProblem& problem, double rate);

}  // namespace tessera::cuda
