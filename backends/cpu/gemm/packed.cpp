// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels, which read copies of both operands: blocks of them, in the order of reading.

#include "../cost.hpp"
#include "algorithms.hpp"
#include "panels_plan.hpp"

namespace tessera::cpu {

GemmPlanPointer make_gemm_packed(Context& context, const GemmProblem& problem, plugin::PlanOptions options) {
  const int threads = take_threads(options, work_of(problem).useful_threads(context.threads()));
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> GemmPlanPointer {
    return std::make_unique<PanelsPlan<T>>(problem, true, threads, options.workspace_limit);
  });
}

}  // namespace tessera::cpu
