// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small products: which kernel computes which tile is settled when the plan is made.
#pragma once

#include <tessera/plugin/plugin.hpp>

namespace tessera::cpu {

/// Null unless each product of the batch is a thread's, has few tiles and takes both operands where they lie.
std::unique_ptr<plugin::Plan> make_tiles_plan(const plugin::GemmProblem& problem, int threads);

}  // namespace tessera::cpu
