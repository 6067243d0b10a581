// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by teams: tiles of both operands in scratch, a block of C in registers.

#include "../flavour.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include "team_tiled_device.hpp"
#else
#include "team_tiled_host.hpp"
#endif

namespace tessera::kokkos {

GemmPlanPointer make_gemm_team_tiled(Context& context, const plugin::GemmProblem& problem,
                                     plugin::PlanOptions options) {
  context.require_no_fault();
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> GemmPlanPointer {
    return std::make_unique<GemmTeamTiledPlan<T>>(context, problem, options);
  });
}

}  // namespace tessera::kokkos
