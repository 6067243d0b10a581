// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C functions of tessera/distributed.h for systems of fields.

#include <tessera/distributed.h>

#include "api/arguments.hpp"
#include "system.hpp"
#include "together.hpp"

#include <tessera/plugin/structs.hpp>

using namespace tessera;
using api::existing;
using api::guard;
using plugin::read_struct;
using plugin::write_struct;

struct tessera_distributed_system {
  distributed::SystemPlan plan;
};

tessera_status tessera_distributed_system_create(tessera_comm* comm, tessera_context* context,
                                                 const tessera_system_desc* desc,
                                                 const tessera_decomposition* decomposition,
                                                 const tessera_plan_options* options, tessera_distributed_system** plan,
                                                 tessera_error* error) {
  return guard(error, [&] {
    const auto& group = existing(comm, "comm").comm;
    existing(plan, "plan");
    tessera_system_desc d{};
    tessera_decomposition wishes{};
    tessera_plan_options o{};
    distributed::together(*group, [&] {
      d = read_struct<tessera_system_desc>(desc, "the system descriptor");
      d.struct_size = sizeof d;
      if (decomposition != nullptr) wishes = read_struct<tessera_decomposition>(decomposition, "the decomposition");
      if (options != nullptr) o = read_struct<tessera_plan_options>(options, "the plan options");
      o.struct_size = sizeof o;
    });
    *plan = new tessera_distributed_system{{group, context, d, wishes, o}};
  });
}

void tessera_distributed_system_destroy(tessera_distributed_system* plan) { delete plan; }

tessera_status tessera_distributed_system_block(const tessera_distributed_system* plan, int32_t rank,
                                                tessera_block* block, tessera_error* error) {
  return guard(error, [&] { write_struct(existing(plan, "plan").plan.block(rank), block, "block"); });
}

const char* tessera_distributed_system_describe(const tessera_distributed_system* plan) {
  return plan == nullptr ? "" : plan->plan.description().c_str();
}

tessera_status tessera_distributed_system_level_after(const tessera_distributed_system* plan, int32_t field,
                                                      int32_t level, tessera_role* role, tessera_error* error) {
  return guard(error, [&] {
    existing(role, "role") = TESSERA_ROLE_FIELD + 4 * field + existing(plan, "plan").plan.place_after(field, level);
  });
}

tessera_status tessera_distributed_system_scatter(tessera_distributed_system* plan, int32_t field, int32_t root,
                                                  const void* global, void* local, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.scatter(field, root, global, local); });
}

tessera_status tessera_distributed_system_gather(tessera_distributed_system* plan, int32_t field, int32_t root,
                                                 const void* local, void* global, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.gather(field, root, local, global); });
}

tessera_status tessera_distributed_system_exchange(tessera_distributed_system* plan, int32_t field, void* local,
                                                   tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.exchange(field, local); });
}

tessera_status tessera_distributed_system_execute(tessera_distributed_system* plan, const tessera_execution* execution,
                                                  tessera_error* error) {
  return guard(error, [&] {
    distributed::SystemPlan& p = existing(plan, "plan").plan;
    tessera_execution e{};
    distributed::Attempts reading;
    reading.run([&] { e = read_struct<tessera_execution>(execution, "the execution"); });
    p.execute(e, reading);
  });
}
