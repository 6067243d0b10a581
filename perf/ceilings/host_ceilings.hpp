// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Loops that do one thing as fast as the processor can.
#pragma once

#include "device.hpp"

namespace tessera::perf {

/// FLOP/s of independent FMAs on registers.
double fma_rate(DType dtype, int threads);

/// The same of dot products of bf16, where the processor has them.
bool has_dot_products();
double dot_rate(int threads);

/// One pass over `half` bytes of each array (multiples of 4096). copy: reads `in`, writes `out`; read, write: both.
void memory_pass(Ceiling ceiling, void* in, void* out, std::size_t half, int threads);

}  // namespace tessera::perf
