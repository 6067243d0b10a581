// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/offers.hpp"

#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "problem/problem.hpp"

#include <tessera/error.hpp>

namespace tessera::core {

namespace {

/// A request about a problem as the plugin sees it, which points into all that is given.
tessera_offers_request request_of(Context& context, const Problem& problem, tessera_memory operands,
                                  std::uint64_t limit, const AlgorithmSpec& algorithm,
                                  const std::vector<tessera_parameter>& parameters) {
  tessera_offers_request request{};
  request.struct_size = sizeof request;
  request.desc = problem.desc();
  request.workspace_limit = limit;
  request.memory = operands;
  request.device = context.device();
  request.threads = context.threads();
  if (concerns(algorithm, context.backend().name(), context.backend().variant())) force(algorithm, parameters, request);
  return request;
}

}  // namespace

void visit_offers(Context& context, const tessera_desc* desc, const PlanOptions& options, tessera_offer_visitor visit,
                  void* data) {
  one_of("operands", options.operands, TESSERA_MEMORY_HOST, TESSERA_MEMORY_DEVICE, "host (0), device (1)");
  const Problem given = validate(desc, environment_compute);
  const AlgorithmSpec algorithm = forced_algorithm(options, given.op);
  require_known_algorithm({{}, algorithm}, given.op, &context.backend());
  require_runnable(algorithm, context.backend(), context.device(), given.desc());
  // As a plan would see it: host operands are brought to a device without gaps.
  const bool staged = options.operands == TESSERA_MEMORY_HOST && !context.on_host();
  const Problem problem = staged ? given.packed() : given.copy();
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  const tessera_offers_request request =
      request_of(context, problem, options.operands, workspace_limit(options, problem, context), algorithm, parameters);
  context.call(context.table().plan_offers, &request, visit, data);
}

std::vector<Way> ways_to_run(Context& context, const Problem& problem, tessera_memory operands, std::uint64_t limit,
                             const AlgorithmSpec& algorithm) {
  using Ways = detail::Collected<std::vector<Way>>;
  const auto visit = [](void* data, const tessera_offer* offer) {
    Ways::take(data, [offer](std::vector<Way>& ways) {
      ways.push_back({offer->algorithm, offer->seconds, offer->workspace_bytes});
    });
  };
  Ways ways;
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  const tessera_offers_request request = request_of(context, problem, operands, limit, algorithm, parameters);
  context.call(context.table().plan_offers, &request, static_cast<tessera_offer_visitor>(visit),
               static_cast<void*>(&ways));
  return ways.get();
}

}  // namespace tessera::core
