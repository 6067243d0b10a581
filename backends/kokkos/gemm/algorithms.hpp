// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The GEMM algorithms, one file each.
#pragma once

#include "../context.hpp"

namespace tessera::kokkos {

using GemmPlanPointer = std::unique_ptr<plugin::Plan>;
using GemmAlgorithm = plugin::Algorithm<Context, plugin::GemmProblem>;

GemmPlanPointer make_gemm_team_tiled(Context&, const plugin::GemmProblem&, plugin::PlanOptions);
GemmPlanPointer make_gemm_mdrange(Context&, const plugin::GemmProblem&, plugin::PlanOptions);

inline constexpr GemmAlgorithm kGemmTeamTiled{"team_tiled", plugin::supports_all<plugin::GemmProblem>,
                                              make_gemm_team_tiled};
inline constexpr GemmAlgorithm kGemmMdrange{"mdrange", plugin::supports_all<plugin::GemmProblem>, make_gemm_mdrange,
                                            0.20};

}  // namespace tessera::kokkos
