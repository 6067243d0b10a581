// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil algorithms, one file each.
#pragma once

#include "../context.hpp"

namespace tessera::kokkos {

using StencilPlanPointer = std::unique_ptr<plugin::Plan>;
using StencilAlgorithm = plugin::Algorithm<Context, plugin::StencilProblem>;

StencilPlanPointer make_stencil_mdrange(Context&, const plugin::StencilProblem&, plugin::PlanOptions);

inline constexpr StencilAlgorithm kStencilMdrange{"mdrange", plugin::supports_all<plugin::StencilProblem>,
                                                  make_stencil_mdrange};

}  // namespace tessera::kokkos
