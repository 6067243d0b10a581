// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The GEMM algorithms of the CPU backend, one file each.
#pragma once

#include "../context.hpp"

namespace tessera::cpu {

using GemmPlanPointer = std::unique_ptr<plugin::Plan>;

GemmPlanPointer make_gemm_eigen(Context&, const plugin::GemmProblem&, plugin::PlanOptions);
GemmPlanPointer make_gemm_reference(Context&, const plugin::GemmProblem&, plugin::PlanOptions);

using GemmAlgorithm = plugin::Algorithm<Context, plugin::GemmProblem>;

inline constexpr GemmAlgorithm kGemmEigen{"eigen", plugin::supports_all<plugin::GemmProblem>, make_gemm_eigen};
inline constexpr GemmAlgorithm kGemmReference{"reference", plugin::supports_all<plugin::GemmProblem>,
                                              make_gemm_reference};

}  // namespace tessera::cpu
