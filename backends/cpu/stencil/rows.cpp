// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils row by row, with results that stay in the caches.

#include "../cost.hpp"
#include "algorithms.hpp"
#include "row_sweep_plan.hpp"

namespace tessera::cpu {

StencilPlanPointer make_stencil_rows(Context& context, const plugin::StencilProblem& problem,
                                     plugin::PlanOptions options) {
  return make_row_sweep<false>(context, problem, options);
}

}  // namespace tessera::cpu
