// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The ways in which a context's backend would run a problem.
#pragma once

#include "plan/context.hpp"
#include "plan/options.hpp"

#include <tessera/types.h>

namespace tessera::core {

/// Shows them to `visit`, the cheapest first. Throws what making a plan would throw.
void visit_offers(Context& context, const tessera_desc* desc, const PlanOptions& options, tessera_offer_visitor visit,
                  void* data);

}  // namespace tessera::core
