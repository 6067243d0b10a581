// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C functions of tessera/distributed.h.

#include <tessera/distributed.h>

#include "api/arguments.hpp"
#include "domain/plan.hpp"
#include "product/gemm.hpp"

#include <tessera/plugin/structs.hpp>

#include <array>
#include <memory>
#include <utility>
#include <vector>

using namespace tessera;
using api::existing;
using api::guard;
using plugin::read_struct;
using plugin::write_struct;

struct tessera_distributed_stencil {
  distributed::DomainPlan plan;
};
struct tessera_distributed_system {
  distributed::DomainPlan plan;
};
struct tessera_distributed_gemm {
  distributed::GemmPlan plan;
};

namespace {

/// Zero where there is none.
template <class T>
T read_optional(const T* source, const char* what) {
  T known{};
  if (source != nullptr) known = read_struct<T>(source, what);
  known.struct_size = sizeof known;
  return known;
}

/// Collective: the plan of what a descriptor says.
template <class Handle, class Desc>
void make_domain_plan(tessera_comm* comm, tessera_context* context, const Desc* desc, const char* what,
                      const tessera_decomposition* decomposition, const tessera_plan_options* options, Handle** plan) {
  const auto& group = existing(comm, "comm").comm;
  tessera_decomposition d{};
  tessera_plan_options o{};
  const auto make = [&] {
    Desc known = read_struct<Desc>(desc, what);
    known.struct_size = sizeof known;
    return distributed::Stepper::of(known);
  };
  distributed::together(*group, [&] {
    existing(plan, "plan");
    d = read_optional(decomposition, "the decomposition");
    o = read_optional(options, "the plan options");
  });
  *plan = new Handle{{group, context, make, d, o}};
}

}  // namespace

/* ---- Groups of ranks --------------------------------------------------------------------- */

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

/* ---- Stencils --------------------------------------------------------------------------- */

tessera_status tessera_distributed_stencil_create(tessera_comm* comm, tessera_context* context,
                                                  const tessera_stencil_desc* desc,
                                                  const tessera_decomposition* decomposition,
                                                  const tessera_plan_options* options,
                                                  tessera_distributed_stencil** plan, tessera_error* error) {
  return guard(error, [&] { make_domain_plan(comm, context, desc, "the descriptor", decomposition, options, plan); });
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
  return guard(error, [&] { existing(plan, "plan").plan.scatter(0, root, global, local); });
}

tessera_status tessera_distributed_stencil_gather(tessera_distributed_stencil* plan, int32_t root, const void* local,
                                                  void* global, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.gather(0, root, local, global); });
}

tessera_status tessera_distributed_stencil_execute(tessera_distributed_stencil* plan, void* in, void* out,
                                                   tessera_error* error) {
  return guard(error, [&] {
    const tessera_operand operands[] = {{in, 0, TESSERA_ROLE_IN}, {out, 0, TESSERA_ROLE_OUT}};
    tessera_execution execution{};
    execution.operands = operands, execution.operand_count = 2;
    distributed::Progress progress;
    existing(plan, "plan").plan.execute(execution, progress);
  });
}

/* ---- Systems of fields ------------------------------------------------------------------ */

tessera_status tessera_distributed_system_create(tessera_comm* comm, tessera_context* context,
                                                 const tessera_system_desc* desc,
                                                 const tessera_decomposition* decomposition,
                                                 const tessera_plan_options* options, tessera_distributed_system** plan,
                                                 tessera_error* error) {
  return guard(error,
               [&] { make_domain_plan(comm, context, desc, "the system descriptor", decomposition, options, plan); });
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
    tessera_execution known{};
    distributed::Progress progress;
    progress.run([&] { known = read_struct<tessera_execution>(execution, "the execution"); });
    existing(plan, "plan").plan.execute(known, progress);
  });
}

/* ---- Matrix products --------------------------------------------------------------------- */

tessera_status tessera_distributed_gemm_create(tessera_comm* comm, tessera_context* context,
                                               const tessera_gemm_desc* desc, const tessera_layout* a,
                                               const tessera_layout* b, const tessera_layout* c,
                                               const tessera_plan_options* options, tessera_distributed_gemm** plan,
                                               tessera_error* error) {
  return guard(error, [&] {
    const auto& group = existing(comm, "comm").comm;
    tessera_gemm_desc d{};
    std::array<tessera_layout, 3> layouts{};
    tessera_plan_options o{};
    distributed::together(*group, [&] {
      existing(plan, "plan");
      d = read_struct<tessera_gemm_desc>(desc, "the descriptor");
      layouts = {read_optional(a, "the layout"), read_optional(b, "the layout"), read_optional(c, "the layout")};
      o = read_optional(options, "the plan options");
    });
    *plan = new tessera_distributed_gemm{{group, context, d, layouts, o}};
  });
}

void tessera_distributed_gemm_destroy(tessera_distributed_gemm* plan) { delete plan; }

tessera_status tessera_distributed_gemm_local(const tessera_distributed_gemm* plan, tessera_role matrix, int32_t rank,
                                              tessera_local_matrix* local, tessera_error* error) {
  return guard(error, [&] { write_struct(existing(plan, "plan").plan.local(matrix, rank), local, "local"); });
}

const char* tessera_distributed_gemm_describe(const tessera_distributed_gemm* plan) {
  return plan == nullptr ? "" : plan->plan.description().c_str();
}

tessera_status tessera_distributed_gemm_scatter(tessera_distributed_gemm* plan, tessera_role matrix, int32_t root,
                                                const void* global, void* local, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.scatter(matrix, root, global, local); });
}

tessera_status tessera_distributed_gemm_gather(tessera_distributed_gemm* plan, tessera_role matrix, int32_t root,
                                               const void* local, void* global, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.gather(matrix, root, local, global); });
}

tessera_status tessera_distributed_gemm_execute(tessera_distributed_gemm* plan, double alpha, const void* a,
                                                const void* b, double beta, void* c, tessera_error* error) {
  return guard(error, [&] { existing(plan, "plan").plan.execute(alpha, a, b, beta, c); });
}
