// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Canonical texts by which measured choices are known.
#pragma once

#include "dispatch/dispatch.hpp"
#include "plan/context.hpp"
#include "plan/options.hpp"
#include "problem/problem.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::core {

/// All of a problem that its time depends on. Coefficients are a number that stands for them.
std::string canonical_text(const Problem& problem);

/// All that the choice depends on beside the problem: the backend and its build, device, threads, where operands are,
/// the limits, and what is forced.
std::string canonical_text(Context& context, tessera_memory operands, const PlanLimits& limits,
                           const std::string& forced);

/// The same for a choice among backends, in whatever order: which there were.
std::string canonical_text(std::vector<Dispatched> backends, int threads, const PlanLimits& limits);

}  // namespace tessera::core
