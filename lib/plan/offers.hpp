// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The ways in which a context's backend would run a problem.
#pragma once

#include "plan/context.hpp"
#include "plan/measure.hpp"
#include "plan/options.hpp"

#include <tessera/types.h>

namespace tessera::core {

/// Shows them to `visit`, the cheapest first. Throws what making a plan would throw.
void visit_offers(Context& context, const tessera_desc* desc, const PlanOptions& options, tessera_offer_visitor visit,
                  void* data);

/// All of them for a problem as the plugin sees it; there is one at least.
std::vector<Way> ways_to_run(Context& context, const Problem& problem, tessera_memory operands, std::uint64_t limit,
                             const AlgorithmSpec& algorithm);

}  // namespace tessera::core
