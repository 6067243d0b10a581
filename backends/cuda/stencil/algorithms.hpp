// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil algorithms, one file each.
#pragma once

#include <tessera/plugin/plugin.hpp>

#include "../context.hpp"

namespace tessera::cuda {

using StencilAlgorithm = plugin::Algorithm<Context, plugin::StencilProblem>;

extern const StencilAlgorithm kStencilNaive;           // direct/naive.cu
extern const StencilAlgorithm kStencilRestrict;        // direct/restrict.cu
extern const StencilAlgorithm kStencilPersistent;      // persistent/persistent.cu
extern const StencilAlgorithm kStencilSharedConstant;  // tile/shared_constant.cu
extern const StencilAlgorithm kStencilSharedLdg;       // tile/shared_ldg.cu
extern const StencilAlgorithm kStencilStreaming;       // streaming/streaming.cpp
extern const StencilAlgorithm kStencilTemporal;        // temporal/temporal.cu

}  // namespace tessera::cuda
