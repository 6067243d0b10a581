// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels, which read both operands where they lie. A transposed B is copied block by block.

#include "../cost.hpp"
#include "algorithms.hpp"
#include "panels_plan.hpp"
#include "tiles.hpp"

namespace tessera::cpu {

GemmPlanPointer make_gemm_direct(Context& context, const GemmProblem& problem, plugin::PlanOptions options) {
  const int threads = take_threads(options, work_of(problem).useful_threads(context.threads()));
  if (auto plan = make_tiles_plan(problem, threads)) return plan;
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> GemmPlanPointer {
    return std::make_unique<PanelsPlan<T>>(problem, false, threads, options.workspace_limit);
  });
}

}  // namespace tessera::cpu
