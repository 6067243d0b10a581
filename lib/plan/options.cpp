// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/options.hpp"

#include "plan/context.hpp"
#include "problem/problem.hpp"

#include <tessera/plugin/complex_copy.hpp>
#include <tessera/plugin/operand_copy.hpp>

#include <algorithm>

namespace tessera::core {

namespace {
/// Whether the caller limits the workspace.
bool is_said(const PlanOptions& options) { return options.workspace != nullptr || options.workspace_limit != 0; }
}  // namespace

AlgorithmSpec forced_algorithm(const PlanOptions& options, tessera_op op) {
  return options.algorithm.empty() ? environment_algorithm(op) : parse_algorithm(options.algorithm, "algorithm", true);
}

tessera_effort effort(const PlanOptions& options) {
  return options.effort == TESSERA_EFFORT_DEFAULT ? environment_effort() : options.effort;
}

PlanLimits limits(const PlanOptions& options) {
  const std::uint64_t workspace = options.workspace != nullptr   ? options.workspace_bytes
                                  : options.workspace_limit != 0 ? options.workspace_limit
                                                                 : TESSERA_DEFAULT_WORKSPACE_LIMIT;
  return {std::min(workspace, std::uint64_t(INT64_MAX)),
          options.sm_limit != 0 ? options.sm_limit : environment_sm_limit()};
}

PlanLimits limits(const PlanOptions& options, const Problem& problem) {
  PlanLimits most = limits(options);
  if (is_said(options) || problem.op != TESSERA_OP_GEMM) return most;
  constexpr std::uint64_t kMost = INT64_MAX;
  const auto add = [&](std::uint64_t copies) { most.workspace += std::min(copies, kMost - most.workspace); };
  if (problem.gemm.dtype_b != problem.gemm.dtype)
    add(plugin::OperandCopy::widening(plugin::GemmProblem(problem.desc())).bytes());
  if (is_complex(problem.gemm.dtype)) {
    const plugin::GemmProblem p(problem.desc());
    if (!plugin::DoubledProduct::has_large_numbers(p)) add(plugin::DoubledProduct(p).bytes());
  }
  return most;
}

PlanLimits limits(const PlanOptions& options, const Problem& problem, const Context& context) {
  PlanLimits most = limits(options, problem);
  const bool parts = problem.op == TESSERA_OP_GEMM && problem.gemm.compute > TESSERA_COMPUTE_STRICT;
  if (!is_said(options) && parts && !context.on_host())
    most.workspace =
        std::max(most.workspace, context.backend().devices()[std::size_t(context.device())].memory_bytes / 4);
  return most;
}

}  // namespace tessera::core
