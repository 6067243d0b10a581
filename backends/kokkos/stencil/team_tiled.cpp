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
namespace {

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& p,
                                   const plugin::Parameters& parameters) {
  context.require_no_fault();
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<StencilTeamTiledPlan<T>>(context, p, parameters);
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"team_tiled", why_not_team_tiled, offer_team_tiled, make, {.narrow = true, .ordered = true}}, 1};

}  // namespace
}  // namespace tessera::kokkos
