// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small products of host operands without a plan.
#pragma once

#include "plan/context.hpp"

#include <tessera/descriptors.h>

#include <cstdint>

namespace tessera::core {

/// tessera_small_gemm. `context` and `elements` may be null.
bool multiply_small(const Context* context, const tessera_gemm_desc& desc, double alpha, const void* a, const void* b,
                    double beta, void* c, const std::uint64_t* elements);

/// The environment was read anew: the next product asks whose function it takes.
void forget_small_gemm();

}  // namespace tessera::core
