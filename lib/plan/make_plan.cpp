// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/make_plan.hpp"

#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "plan/prepared.hpp"
#include "plan/problem_json.hpp"
#include "plan/verbose.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tessera::core {
namespace {

/// The context that the caller gave.
ChosenContext given(std::shared_ptr<Context> context, const PlanRequest& request) {
  require_known_algorithm({{}, request.algorithm}, request.problem.op, &context->backend());
  require_runnable(request.algorithm, context->backend(), context->device(), request.problem.desc());
  return {std::move(context)};
}

std::shared_ptr<Plan> plan_of(const PlanRequest& request, ChosenPlan chosen) {
  return std::make_shared<Plan>(request.problem.copy(), request.options, std::move(chosen), request.verbose);
}

/// A device's memory may be in use, by others now than when its algorithm was chosen: then with what the caller's
/// limit allows, and by the model of time.
std::shared_ptr<Plan> make_in(const ChosenContext& where, const PlanRequest& request) {
  const PlanLimits usual = limits(request.options, request.problem);
  const PlanLimits here = limits(request.options, request.problem, *where.context);
  const SeenProblem seen(request.problem, *where.context, request.options.operands);
  std::string by_time;
  try {
    ChosenPlan chosen = choose_algorithm(request, where, seen.get(), here);
    if (chosen.by_time) by_time = chosen.plan->algorithm();
    return plan_of(request, std::move(chosen));
  } catch (const Error& error) {
    const bool otherwise = here != usual || !by_time.empty();
    if (error.status() != TESSERA_OUT_OF_MEMORY || !otherwise || request.options.tuning != nullptr) throw;
    if (!by_time.empty()) request.say("not " + by_time + ", but estimated: " + error.what());
    return plan_of(request, choose_by_model(request, where, seen.get(), usual));
  }
}

/// For `tessera tune --log`. `placed`: the program says where the plan runs.
void print_problem(const Plan& plan, const PlanRequest& request, bool placed) {
  const Context& context = plan.context();
  const Backend& backend = context.backend();
  if (request.problem.output_empty() || request.problem.op == TESSERA_OP_SYSTEM || request.problem.prepared ||
      request.forces_all(backend))
    return;  // nothing is left to tune, or nobody could tune it later
  const bool said = placed || !environment_backend().name.empty();
  const std::string place = said ? context.name() + ":" + std::to_string(context.device()) : std::string();
  request.say("problem " + json_of(request.problem, place, placed ? context.threads() : 0,
                                   concerns(request.algorithm, backend) ? request.algorithm : AlgorithmSpec(),
                                   request.options));
}

}  // namespace

void PlanRequest::say(const std::string& line) const {
  if (verbose >= 1) print_verbose(line);
}

bool PlanRequest::forces_all(const Backend& backend) const {
  return concerns(algorithm, backend) && !algorithm.parameters.empty();
}

std::shared_ptr<Plan> make_plan(std::shared_ptr<Context> context, const tessera_desc* desc,
                                const PlanOptions& options) {
  const Problem problem = problem_of_plan(desc, options);
  if (options.prepared != nullptr) context = options.prepared->context_of_plan(context);
  one_of("operands", options.operands, TESSERA_MEMORY_HOST, TESSERA_MEMORY_DEVICE, "host (0), device (1)");
  const int verbose = options.part ? std::min(environment_verbose(), 1) : environment_verbose();
  const PlanRequest request{problem, options, forced_algorithm(options, problem.op), verbose};
  const bool placed = context != nullptr;
  const ChosenContext where = placed ? given(std::move(context), request) : choose_context(request);
  std::shared_ptr<Plan> plan = make_in(where, request);
  if (options.part) return plan;
  request.say("plan " + plan->description());
  print_problem(*plan, request, placed);
  return plan;
}

std::vector<Tried> tune(std::shared_ptr<Context> context, const tessera_desc* desc, PlanOptions options) {
  std::vector<Tried> tried;
  options.effort = TESSERA_EFFORT_MEASURE;
  options.tuning = &tried;
  options.part = true;
  make_plan(std::move(context), desc, options);
  return tried;
}

}  // namespace tessera::core
