// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C functions of tessera/distributed.h.

#include <tessera/distributed.h>

#include "api/arguments.hpp"
#include "comm.hpp"
#include "stencil.hpp"
#include "together.hpp"

#include <tessera/plugin/structs.hpp>

#include <vector>

using namespace tessera;
using api::existing;
using api::guard;
using plugin::read_struct;
using plugin::write_struct;

struct tessera_distributed_stencil {
  distributed::StencilPlan plan;
};

tessera_status tessera_comm_create(const tessera_transport* transport, tessera_comm** comm, tessera_error* error) {
  return guard(error, [&] {
    const auto known = read_struct<tessera_transport>(transport, "the transport");
    auto made = std::make_shared<distributed::Comm>(known);
    existing(comm, "comm") = new tessera_comm{std::move(made)};
  });
}

tessera_status tessera_comm_self(tessera_comm** comm, tessera_error* error) {
  return guard(error, [&] {
    existing(comm, "comm") = new tessera_comm{std::make_shared<distributed::Comm>(distributed::self_transport())};
  });
}

tessera_status tessera_comm_threads(int32_t count, tessera_comm** comms, tessera_error* error) {
  return guard(error, [&] {
    if (count < 1 || count > 1024) core::invalid("count", count, "must lie in [1, 1024]");
    existing(comms, "comms");
    std::vector<tessera_transport> transports(std::size_t(count), tessera_transport{});
    distributed::thread_transports(count, transports.data());
    for (int rank = 0; rank < count; ++rank)
      comms[rank] = new tessera_comm{std::make_shared<distributed::Comm>(transports[std::size_t(rank)])};
  });
}

void tessera_comm_destroy(tessera_comm* comm) { delete comm; }
int32_t tessera_comm_rank(const tessera_comm* comm) { return comm == nullptr ? -1 : comm->comm->rank(); }
int32_t tessera_comm_size(const tessera_comm* comm) { return comm == nullptr ? 0 : comm->comm->size(); }

tessera_status tessera_distributed_stencil_create(tessera_comm* comm, tessera_context* context,
                                                  const tessera_stencil_desc* desc,
                                                  const tessera_decomposition* decomposition,
                                                  const tessera_plan_options* options,
                                                  tessera_distributed_stencil** plan, tessera_error* error) {
  return guard(error, [&] {
    const auto& group = existing(comm, "comm").comm;
    existing(plan, "plan");
    tessera_stencil_desc d{};
    tessera_decomposition wishes{};
    tessera_plan_options o{};
    distributed::together(*group, [&] {
      d = read_struct<tessera_stencil_desc>(desc, "the descriptor");
      if (decomposition != nullptr) wishes = read_struct<tessera_decomposition>(decomposition, "the decomposition");
      if (options != nullptr) o = read_struct<tessera_plan_options>(options, "the plan options");
      o.struct_size = sizeof o;
    });
    *plan = new tessera_distributed_stencil{{group, context, d, wishes, o}};
  });
}

void tessera_distributed_stencil_destroy(tessera_distributed_stencil* plan) { delete plan; }

tessera_status tessera_distributed_stencil_block(const tessera_distributed_stencil* plan, int32_t rank,
                                                 tessera_block* block, tessera_error* error) {
  return guard(error, [&] { write_struct(existing(plan, "plan").plan.block(rank), block, "block"); });
}

const char* tessera_distributed_stencil_describe(const tessera_distributed_stencil* plan) {
  return plan == nullptr ? "" : plan->plan.description().c_str();
}

tessera_status tessera_distributed_stencil_scatter(tessera_distributed_stencil* plan, int32_t root, const void* global,
                                                   void* local, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.scatter(root, global, local); });
}

tessera_status tessera_distributed_stencil_gather(tessera_distributed_stencil* plan, int32_t root, const void* local,
                                                  void* global, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.gather(root, local, global); });
}

tessera_status tessera_distributed_stencil_execute(tessera_distributed_stencil* plan, void* in, void* out,
                                                   tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.execute(in, out); });
}
