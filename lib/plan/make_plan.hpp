// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a plan comes to be: the problem is validated, a context and an algorithm are chosen.
#pragma once

#include "plan/context.hpp"
#include "plan/options.hpp"
#include "plan/plan.hpp"
#include "problem/problem.hpp"

#include <tessera/tessera.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::core {

/// `context` may be null for host operands: the backend is then chosen for the problem.
std::shared_ptr<Plan> make_plan(std::shared_ptr<Context> context, const tessera_desc* desc, const PlanOptions& options);

/// Measures as a plan of effort measure would, whatever wisdom says and with more patience. What it finds is wisdom
/// then. Throws what making the plan would throw, and where nothing can be measured. `context` null: among backends, as
/// for a plan without a context.
std::vector<Tried> tune(std::shared_ptr<Context> context, const tessera_desc* desc, PlanOptions options);

/// What a plan is made for.
struct PlanRequest {
  const Problem& problem;
  const PlanOptions& options;
  AlgorithmSpec algorithm;  ///< that code or environment force, if any
  int verbose;

  /// Where that allows for one.
  void say(const std::string& line) const;
  /// Whether the algorithm is forced with parameters in plans of that backend, so that nothing is left to choose.
  bool forces_all(const Backend& backend) const;
};

struct ChosenContext {
  std::shared_ptr<Context> context;
  bool compared = false;  ///< with other backends, for which its algorithms were measured
};

/// For a plan without a context: by wisdom, by measuring or by the backends' models of time.
ChosenContext choose_context(const PlanRequest& request);

/// By wisdom, by measuring, or by the model of time, where an algorithm is not forced with all that it has.
/// `seen` is the problem as the plugin sees it.
ChosenPlan choose_algorithm(const PlanRequest& request, const ChosenContext& where, const Problem& seen,
                            const PlanLimits& limits);
/// By the model of time, or what is forced.
ChosenPlan choose_by_model(const PlanRequest& request, const ChosenContext& where, const Problem& seen,
                           const PlanLimits& limits);

}  // namespace tessera::core
