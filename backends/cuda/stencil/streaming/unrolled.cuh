// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Loops whose index is a constant.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

namespace tessera::cuda {

/// Calls body(std::integral_constant) for kFirst to kEnd - 1. Unrolling by the compiler gives up on the larger shapes.
template <int kFirst, int kEnd, class Body>
__device__ __forceinline__ void unrolled(Body&& body) {
  if constexpr (kFirst < kEnd) {
    body(std::integral_constant<int, kFirst>{});
    unrolled<kFirst + 1, kEnd>(body);
  }
}

}  // namespace tessera::cuda
