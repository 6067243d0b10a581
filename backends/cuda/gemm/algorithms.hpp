// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The GEMM algorithms, one file each.
#pragma once

#include <tessera/plugin/plugin.hpp>

#include "../context.hpp"

namespace tessera::cuda {

using GemmAlgorithm = plugin::Algorithm<Context, plugin::GemmProblem>;

extern const GemmAlgorithm kGemmMultistage;   // multistage.cu
extern const GemmAlgorithm kGemmNaive;        // naive.cu
extern const GemmAlgorithm kGemmPeeled;       // peeled.cpp
extern const GemmAlgorithm kGemmSmall;        // small.cu
extern const GemmAlgorithm kGemmSkinny;       // thin.cu
extern const GemmAlgorithm kGemmTiledShared;  // tiled_shared.cu

/// Whether some rows or columns are best computed apart from the rest.
bool peeling_pays(const plugin::GemmProblem&, const DeviceLimits&);  // peeled.cpp

/// The automatic choice; "" for the first of the backend's list that supports the problem.
std::string_view preferred_gemm(const plugin::GemmProblem&, const DeviceLimits&);  // preferred.cpp
/// The same for a product that is computed as a whole.
std::string_view preferred_unpeeled_gemm(const plugin::GemmProblem&);

}  // namespace tessera::cuda
