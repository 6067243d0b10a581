// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Measuring for its own sake: wisdom, and what was tried.
#pragma once

#include "plan/context.hpp"
#include "plan/options.hpp"

#include <memory>
#include <vector>

namespace tessera::core {

/// Measures as a plan of effort measure would, whatever wisdom says and with more patience. What it finds is wisdom
/// then. Throws what making the plan would throw, and where nothing can be measured. `context` null: among backends, as
/// for a plan without a context.
std::vector<Tried> tune(std::shared_ptr<Context> context, const tessera_desc* desc, PlanOptions options);

}  // namespace tessera::core
