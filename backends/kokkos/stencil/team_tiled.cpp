// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils by teams, each of which takes a tile of the domain.

#include "../flavour.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include "team_tiled_device.hpp"
#else
#include "team_tiled_host.hpp"
#endif

namespace tessera::kokkos {

std::string why_not_team_tiled([[maybe_unused]] const plugin::StencilProblem& problem, [[maybe_unused]] int device) {
#if defined(KOKKOS_ENABLE_CUDA)
  return why_no_team_tile(problem, device);
#else
  return {};
#endif
}

StencilPlanPointer make_stencil_team_tiled(Context& context, const plugin::StencilProblem& problem,
                                           plugin::PlanOptions options) {
  context.require_no_fault();
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> StencilPlanPointer {
    return std::make_unique<StencilTeamTiledPlan<T>>(context, problem, options);
  });
}

}  // namespace tessera::kokkos
