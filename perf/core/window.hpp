// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil's result in small windows of its domain, from the definition: every step of it needs only what lies within
/// steps x radius of the window.
#pragma once

#include "samples.hpp"

namespace tessera::perf {

/// False where a window's steps reach so far that following them would take minutes.
bool windows_are_affordable(const Problem& problem);
/// The most steps of such a problem of which they are.
std::int64_t affordable_steps(const Problem& problem);

/// Windows at corners, edges and inside.
Samples stencil_windows(const Problem& problem, std::uint64_t input_seed);

}  // namespace tessera::perf
