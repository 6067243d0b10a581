// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// CUDA errors as exceptions, with messages that say what to do.
#pragma once

#include <tessera/plugin/error.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tessera::cuda {

/// Throws the plugin::Error for a failed CUDA call, whose text is `call`.
///
/// Non-sticky errors stay in the thread's "last error" until somebody fetches them. A failing call of
/// ours has overwritten that slot, so fail() empties it: the program must not find our error in a
/// later check of its own. Successful calls leave the slot alone, and nothing here asks it for the
/// state of a launch (launch.cuh takes the launch's own return value), so an error that the program
/// has not fetched yet is neither swallowed nor blamed on us. (With the static runtime the slot is the
/// plugin's own; this holds for a shared one too.)
[[noreturn]] void fail(cudaError_t error, const char* call);

/// As fail(), for a call that asked for `bytes` of `where` ("device memory", "pinned host memory").
[[noreturn]] void fail_allocation(cudaError_t error, const char* call, std::uint64_t bytes, const char* where);

/// For destructors and tear-down: an error is taken out of the last-error slot and dropped.
void ignore(cudaError_t error) noexcept;

}  // namespace tessera::cuda

// clang-format off
#define TESSERA_CUDA_CHECK(call) \
  do if (const cudaError_t tessera_error_ = (call); tessera_error_ != cudaSuccess) [[unlikely]] \
      ::tessera::cuda::fail(tessera_error_, #call); while (false)
// clang-format on
