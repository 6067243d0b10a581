// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small products without a plan.
#pragma once

#include <tessera/plugin/abi.h>

#include <cstdint>

namespace tessera::cpu {

/// tessera_backend.small_gemm. Throws for other types than f32 and f64.
tessera_small_gemm_function small_gemm(tessera_dtype dtype, std::int64_t& extent, std::int64_t& multiply_adds);

}  // namespace tessera::cpu
