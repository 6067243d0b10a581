// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil algorithms, one file each.
#pragma once

#include <tessera/plugin/plugin.hpp>

#include "../context.hpp"

namespace tessera::cuda {

using StencilAlgorithm = plugin::Algorithm<Context, plugin::StencilProblem>;

extern const StencilAlgorithm kStencilNaive;           // naive.cu
extern const StencilAlgorithm kStencilRestrict;        // restrict.cu
extern const StencilAlgorithm kStencilResident;        // resident.cu
extern const StencilAlgorithm kStencilSharedConstant;  // shared_constant.cu
extern const StencilAlgorithm kStencilSharedLdg;       // shared_ldg.cu
extern const StencilAlgorithm kStencilStreaming;       // streaming.cpp
extern const StencilAlgorithm kStencilTemporal;        // temporal.cu

}  // namespace tessera::cuda
