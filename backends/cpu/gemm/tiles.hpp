// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small products: which kernel computes which tile is settled when the plan is made.
#pragma once

#include <tessera/plugin/plugin.hpp>

#include <memory>

namespace tessera::cpu {

/// For products of which lists_tiles() holds.
std::unique_ptr<plugin::Plan> make_tiles_plan(const plugin::GemmProblem& problem, int threads);

}  // namespace tessera::cpu
