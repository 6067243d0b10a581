// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Kernels that do one thing as fast as the device can. Each enqueues one run.
#pragma once

#include "device.hpp"

#include <cuda_runtime_api.h>

namespace tessera::perf {

/// FMAs on registers alone; returns the floating-point operations of the run. matrix_unit: mma.sync on
/// f64 from sm_90 on, f16, bf16 and tf32 from sm_80 on; 0 where the device has none. Instructions of four warps (wgmma)
/// reach more.
double enqueue_arithmetic(Ceiling ceiling, DType dtype, float* sink, cudaStream_t stream);

/// One pass over two halves of `half` bytes (multiples of 4096). copy: cudaMemcpy, copy_streaming: a kernel.
void enqueue_memory_pass(Ceiling ceiling, void* in, void* out, std::size_t half, cudaStream_t stream);

}  // namespace tessera::perf
