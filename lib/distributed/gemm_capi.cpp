// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C functions of tessera/distributed.h for products.

#include <tessera/distributed.h>

#include "api/arguments.hpp"
#include "comm.hpp"
#include "gemm.hpp"
#include "together.hpp"

#include <tessera/plugin/structs.hpp>

#include <array>

using namespace tessera;
using api::existing;
using api::guard;
using plugin::read_struct;
using plugin::write_struct;

struct tessera_distributed_gemm {
  distributed::GemmPlan plan;
};

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
      const std::array<const tessera_layout*, 3> given{a, b, c};
      for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i] != nullptr) layouts[i] = read_struct<tessera_layout>(given[i], "the layout");
      if (options != nullptr) o = read_struct<tessera_plan_options>(options, "the plan options");
      o.struct_size = sizeof o;
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
