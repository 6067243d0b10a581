// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Strided copies between host and device memory.
#pragma once

#include <tessera/plugin/abi.h>

#include <cuda_runtime_api.h>

namespace tessera::cuda {

struct Staging;

/// Runs the copy behind the work queued on the stream and returns when it is complete. The context's
/// device is current.
///
/// Pinned host memory is moved directly, row by row of the array; small copies go through ordinary
/// memory; the rest is packed into (or unpacked from) the two chunks of `staging`, the CPU working on
/// one while the DMA engine works on the other.
void transfer(const tessera_copy& copy, cudaStream_t stream, Staging& staging);

}  // namespace tessera::cuda
