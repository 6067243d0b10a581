// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The GEMM algorithms of the CPU backend, one file each.
#pragma once

#include "../context.hpp"

namespace tessera::cpu {

using GemmPlanPointer = std::unique_ptr<plugin::Plan>;

GemmPlanPointer make_gemm_packed(Context&, const plugin::GemmProblem&, plugin::PlanOptions);
GemmPlanPointer make_gemm_direct(Context&, const plugin::GemmProblem&, plugin::PlanOptions);
GemmPlanPointer make_gemm_eigen(Context&, const plugin::GemmProblem&, plugin::PlanOptions);
GemmPlanPointer make_gemm_reference(Context&, const plugin::GemmProblem&, plugin::PlanOptions);

/// The algorithm that measurements favour for a problem; a pure function of the problem, the caches and OpenMP's number
/// of threads.
std::string_view preferred_gemm(const plugin::GemmProblem&);

using GemmAlgorithm = plugin::Algorithm<Context, plugin::GemmProblem>;

inline constexpr GemmAlgorithm kGemmPacked{"packed", plugin::supports_all<plugin::GemmProblem>, make_gemm_packed, 0.72};
inline constexpr GemmAlgorithm kGemmDirect{"direct", plugin::supports_all<plugin::GemmProblem>, make_gemm_direct, 0.80};
inline constexpr GemmAlgorithm kGemmEigen{"eigen", plugin::supports_all<plugin::GemmProblem>, make_gemm_eigen, 0.79};
inline constexpr GemmAlgorithm kGemmReference{"reference", plugin::supports_all<plugin::GemmProblem>,
                                              make_gemm_reference, 0.03};

}  // namespace tessera::cpu
