// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil algorithms of the CPU backend, one file each.
#pragma once

#include "../context.hpp"

namespace tessera::cpu {

using StencilPlanPointer = std::unique_ptr<plugin::Plan>;

StencilPlanPointer make_stencil_rows(Context&, const plugin::StencilProblem&, plugin::PlanOptions);
StencilPlanPointer make_stencil_streaming(Context&, const plugin::StencilProblem&, plugin::PlanOptions);
StencilPlanPointer make_stencil_temporal(Context&, const plugin::StencilProblem&, plugin::PlanOptions);
StencilPlanPointer make_stencil_reference(Context&, const plugin::StencilProblem&, plugin::PlanOptions);

/// "", or why the streaming algorithm cannot: its rows must be contiguous.
std::string why_not_streaming(const plugin::StencilProblem&, int device);
/// A domain with a halo has one step only.
std::string why_not_temporal(const plugin::StencilProblem&, int device);

/// Several steps in a pass where the domain does not stay in a core's cache, but a tile of them does. Else single
/// sweeps, whose results go past the caches where in and out would not stay in those of the cores that work, or, for
/// several steps, in a quarter of the shared one. A pure function of the problem, the caches and OpenMP's number of
/// threads.
std::string_view preferred_stencil(const plugin::StencilProblem&);

using StencilAlgorithm = plugin::Algorithm<Context, plugin::StencilProblem>;

inline constexpr StencilAlgorithm kStencilRows{"rows", plugin::supports_all<plugin::StencilProblem>, make_stencil_rows,
                                               0.74};
inline constexpr StencilAlgorithm kStencilStreaming{"streaming", why_not_streaming, make_stencil_streaming, 0.87};
inline constexpr StencilAlgorithm kStencilTemporal{"temporal", why_not_temporal, make_stencil_temporal, 0.55};
inline constexpr StencilAlgorithm kStencilReference{"reference", plugin::supports_all<plugin::StencilProblem>,
                                                    make_stencil_reference, 0.01};

}  // namespace tessera::cpu
