// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencils that "marching" takes.
#pragma once

#include "offers.hpp"

#include <tessera/plugin/system_star.hpp>

namespace tessera::cuda {

/// The star of a stencil; throws nothing where why_not_marching() is "".
plugin::StarSystem marching_star(const plugin::StencilProblem& problem);

}  // namespace tessera::cuda
