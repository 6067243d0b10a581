// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A plan's problem as a line that can be read back: what `tessera tune --log` tunes.
#pragma once

#include "dispatch/environment.hpp"
#include "plan/options.hpp"
#include "problem/problem.hpp"

#include <string>

namespace tessera::core {

/// A JSON object with all that the choice of an algorithm depends on, but for the machine. `backend`: "cuda:0" where
/// the program or the environment says it, else "". `threads`: those of a context that the program made; 0: not said.
std::string json_of(const Problem& problem, const std::string& backend, int threads, const AlgorithmSpec& forced,
                    const PlanOptions& options);

}  // namespace tessera::core
