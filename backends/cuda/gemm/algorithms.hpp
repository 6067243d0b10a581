// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The GEMM algorithms, one file each.
#pragma once

#include <tessera/plugin/plugin.hpp>

#include "../context.hpp"

namespace tessera::cuda {

using GemmAlgorithm = plugin::Algorithm<Context, plugin::GemmProblem>;

extern const GemmAlgorithm kGemmNaive;        // naive.cu
extern const GemmAlgorithm kGemmTiledShared;  // tiled_shared.cu

}  // namespace tessera::cuda
