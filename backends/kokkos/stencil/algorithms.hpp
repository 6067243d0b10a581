// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil algorithms, one file each.
#pragma once

#include "../context.hpp"

namespace tessera::kokkos {

using StencilPlanPointer = std::unique_ptr<plugin::Plan>;
using StencilAlgorithm = plugin::Algorithm<Context, plugin::StencilProblem>;

/// "", or why a tile with its halo does not fit into a team's scratch.
std::string why_not_team_tiled(const plugin::StencilProblem&, int device);

StencilPlanPointer make_stencil_team_tiled(Context&, const plugin::StencilProblem&, plugin::PlanOptions);
StencilPlanPointer make_stencil_mdrange(Context&, const plugin::StencilProblem&, plugin::PlanOptions);

inline constexpr StencilAlgorithm kStencilTeamTiled{"team_tiled", why_not_team_tiled, make_stencil_team_tiled};
inline constexpr StencilAlgorithm kStencilMdrange{"mdrange", plugin::supports_all<plugin::StencilProblem>,
                                                  make_stencil_mdrange, 0.50};

}  // namespace tessera::kokkos
