// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils row by row, with results that go past the caches.

#include "../cost.hpp"
#include "algorithms.hpp"
#include "row_sweep_plan.hpp"

#include <string>

namespace tessera::cpu {

StencilPlanPointer make_stencil_streaming(Context& context, const plugin::StencilProblem& problem,
                                          plugin::PlanOptions options) {
  return make_row_sweep<true>(context, problem, options);
}

std::string why_not_streaming(const plugin::StencilProblem& problem, int) {
  for (const std::int64_t stride : {problem.in_strides[2], problem.out_strides[2]})
    if (stride != 1) return "rows have stride " + std::to_string(stride) + ", not 1";
  return {};
}

}  // namespace tessera::cpu
