// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which stencils "marching" takes, and how long they take.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/system_star.hpp>

#include <cstdint>
#include <string>

namespace tessera::cuda {

/// The star of a stencil; throws nothing where why_not_marching() is "".
plugin::StarSystem marching_star(const plugin::StencilProblem& problem);

std::string why_not_marching(const plugin::StencilProblem& problem, const Machine& machine);

void offer_marching(const plugin::StencilProblem& problem, const Machine& machine, const plugin::GivenParameters& given,
                    std::uint64_t workspace_limit, plugin::OfferList& offers);

}  // namespace tessera::cuda
