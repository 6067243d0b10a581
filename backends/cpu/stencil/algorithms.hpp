// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil algorithms of the CPU backend, one file each.
#pragma once

#include "../context.hpp"

namespace tessera::cpu {

using StencilPlanPointer = std::unique_ptr<plugin::Plan>;

StencilPlanPointer make_stencil_rows(Context&, const plugin::StencilProblem&, plugin::PlanOptions);
StencilPlanPointer make_stencil_reference(Context&, const plugin::StencilProblem&, plugin::PlanOptions);

using StencilAlgorithm = plugin::Algorithm<Context, plugin::StencilProblem>;

inline constexpr StencilAlgorithm kStencilRows{"rows", plugin::supports_all<plugin::StencilProblem>, make_stencil_rows};
inline constexpr StencilAlgorithm kStencilReference{"reference", plugin::supports_all<plugin::StencilProblem>,
                                                    make_stencil_reference};

}  // namespace tessera::cpu
