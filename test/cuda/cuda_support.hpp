// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Skipping where there is no device, and checked calls of the CUDA runtime.
#pragma once

#include "required.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace tessera::test {

inline void succeed(cudaError_t status) {
  if (status != cudaSuccess) FAIL("CUDA: " << cudaGetErrorString(status));
}

/// A context of the backend, or the end of the test case: skipped, unless TESSERA_REQUIRE_BACKENDS names it.
inline Context open_cuda(const ContextOptions& options = {}) {
  try {
    return Context(std::string("cuda"), options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::backend_unavailable || is_required("cuda")) FAIL("cuda: " << error.what());
    SKIP("cuda is not available: " << error.what());
  }
  throw std::logic_error("not reached: FAIL and SKIP leave by an exception");
}

/// Ends a test of what other devices do not have.
inline void require_hopper() {
  cudaDeviceProp properties;
  succeed(cudaGetDeviceProperties(&properties, 0));
  if (properties.major != 9 || properties.minor != 0)
    SKIP("it is for compute capability 9.0, the device has " << properties.major << "." << properties.minor);
}

}  // namespace tessera::test
