// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Loops whose index is a constant.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>
#include <utility>

namespace tessera::cuda {

template <int kFirst, class Body, int... kSteps>
__device__ __forceinline__ void unrolled_steps(Body& body, std::integer_sequence<int, kSteps...>) {
  (body(std::integral_constant<int, kFirst + kSteps>{}), ...);
}

/// Calls body(std::integral_constant) for kFirst to kEnd - 1. Unrolling by the compiler gives up on the larger shapes.
/// Not by a recursion, in which the compiler copies the last bodies once for each call before them.
template <int kFirst, int kEnd, class Body>
__device__ __forceinline__ void unrolled(Body&& body) {
  if constexpr (kFirst < kEnd) unrolled_steps<kFirst>(body, std::make_integer_sequence<int, kEnd - kFirst>{});
}

}  // namespace tessera::cuda
