// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/offers.hpp"

#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "problem/problem.hpp"

namespace tessera::core {

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
  tessera_offers_request request{};
  request.struct_size = sizeof request;
  request.desc = problem.desc();
  request.workspace_limit = workspace_limit(options, problem, context);
  request.memory = options.operands;
  request.device = context.device();
  request.threads = context.threads();
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  if (concerns(algorithm, context.backend().name(), context.backend().variant())) force(algorithm, parameters, request);
  context.call(context.table().plan_offers, &request, visit, data);
}

}  // namespace tessera::core
