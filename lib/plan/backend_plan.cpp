// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/backend_plan.hpp"

#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "plan/prepared.hpp"

#include <tessera/error.hpp>

#include <utility>

namespace tessera::core {
namespace {

/// They point into the algorithm.
std::vector<tessera_parameter> c_parameters(const AlgorithmSpec& algorithm) {
  std::vector<tessera_parameter> parameters;
  for (const auto& [key, value] : algorithm.parameters) parameters.push_back({key.c_str(), value});
  return parameters;
}

/// Names the forced algorithm, where it concerns the context's backend, in a request, which points into it and into
/// its `parameters`.
template <class CRequest>
void force(const AlgorithmSpec& algorithm, const std::vector<tessera_parameter>& parameters, const Context& context,
           CRequest& request) {
  if (!concerns(algorithm, context.backend())) return;
  request.algorithm = algorithm.name.c_str();
  request.parameters = parameters.data();
  request.parameter_size = sizeof(tessera_parameter);
  request.parameter_count = parameters.size();
}

/// Tells of an operand that was prepared.
template <class CRequest>
void tell_form(const Problem& problem, CRequest& request) {
  if (!problem.prepared) return;
  request.prepared = std::int32_t(problem.prepared->place);
  request.form = problem.prepared->form.c_str();
}

/// A request about a problem as the plugin sees it, which points into all that is given.
tessera_offers_request request_of(Context& context, const Problem& problem, tessera_memory operands,
                                  const PlanLimits& limits, const AlgorithmSpec& algorithm,
                                  const std::vector<tessera_parameter>& parameters) {
  tessera_offers_request request{};
  request.struct_size = sizeof request;
  request.desc = problem.desc();
  request.workspace_limit = limits.workspace;
  request.multiprocessors = limits.multiprocessors;
  request.memory = operands;
  request.device = context.device();
  request.threads = context.threads();
  tell_form(problem, request);
  force(algorithm, parameters, context, request);
  return request;
}

}  // namespace

BackendPlan::BackendPlan(std::shared_ptr<Context> context, const Problem& problem, const PlanLimits& limits,
                         const AlgorithmSpec& algorithm)
    : context_(std::move(context)), handle_(nullptr, {context_.get()}), limits_(limits) {
  tessera_plan_request request{};
  request.struct_size = sizeof request;
  request.desc = problem.desc();
  request.workspace_limit = limits.workspace;
  request.multiprocessors = limits.multiprocessors;
  tell_form(problem, request);
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  force(algorithm, parameters, *context_, request);
  tessera_plan_reply reply{};
  reply.struct_size = sizeof reply;
  tessera_backend_plan* made = nullptr;
  context_->call(context_->table().plan_create, context_->handle(), &request, &made, &reply);
  handle_.reset(made);
  const auto broken = [&](const std::string& what) { throw Error(TESSERA_INTERNAL, context_->name() + " " + what); };
  if (made == nullptr) broken("made no plan and reported no error");
  if (reply.algorithm == nullptr) broken("does not name its plan's algorithm");
  if (problem.op == TESSERA_OP_GEMM && reply.workspace_bytes > limits.workspace)
    broken("wants a workspace of " + std::to_string(reply.workspace_bytes) + " bytes; the limit is " +
           std::to_string(limits.workspace));
  algorithm_ = reply.algorithm;
  workspace_bytes_ = reply.workspace_bytes;
}

void visit_offers(Context& context, const tessera_desc* desc, const PlanOptions& options, tessera_offer_visitor visit,
                  void* data) {
  one_of("operands", options.operands, TESSERA_MEMORY_HOST, TESSERA_MEMORY_DEVICE, "host (0), device (1)");
  const Problem given = problem_of_plan(desc, options);
  const AlgorithmSpec algorithm = forced_algorithm(options, given.op);
  require_known_algorithm({{}, algorithm}, given.op, &context.backend());
  require_runnable(algorithm, context.backend(), context.device(), given.desc());
  const SeenProblem seen(given, context, options.operands);
  const Problem& problem = seen.get();
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  const tessera_offers_request request =
      request_of(context, problem, options.operands, limits(options, problem, context), algorithm, parameters);
  context.call(context.table().plan_offers, &request, visit, data);
}

std::vector<Way> ways_to_run(Context& context, const Problem& problem, tessera_memory operands,
                             const PlanLimits& limits, const AlgorithmSpec& algorithm) {
  using Ways = detail::Collected<std::vector<Way>>;
  const auto visit = [](void* data, const tessera_offer* offer) {
    Ways::take(data, [offer](std::vector<Way>& ways) {
      ways.push_back({offer->algorithm, offer->seconds, offer->workspace_bytes});
    });
  };
  Ways ways;
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  const tessera_offers_request request = request_of(context, problem, operands, limits, algorithm, parameters);
  context.call(context.table().plan_offers, &request, static_cast<tessera_offer_visitor>(visit),
               static_cast<void*>(&ways));
  return ways.get();
}

PreparedForm best_form(Context& context, const Problem& problem, std::size_t place, tessera_memory operands,
                       const PlanLimits& limits, const AlgorithmSpec& algorithm) {
  const auto entry = context.optional(&tessera_backend::best_form);
  if (entry == nullptr || context.optional(&tessera_backend::prepare) == nullptr)
    throw Error(TESSERA_UNSUPPORTED, context.name() + " prepares no operands");
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  tessera_offers_request request = request_of(context, problem, operands, limits, algorithm, parameters);
  request.prepared = std::int32_t(place);
  using Found = detail::Collected<PreparedForm>;
  const auto visit = [](void* data, const tessera_form* form) {
    Found::take(data, [form](PreparedForm& found) { found = {form->text, form->bytes}; });
  };
  Found found;
  context.call(entry, &request, static_cast<tessera_form_visitor>(visit), static_cast<void*>(&found));
  return found.get();
}

void write_form(Context& context, const Problem& problem, std::size_t place, const std::string& form,
                const void* source, void* target) {
  tessera_plan_request request{};
  request.struct_size = sizeof request;
  request.desc = problem.desc();
  request.prepared = std::int32_t(place);
  request.form = form.c_str();
  context.call(context.optional(&tessera_backend::prepare), context.handle(), &request, source, target);
}

}  // namespace tessera::core
