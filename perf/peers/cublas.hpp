// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace tessera::perf {

std::unique_ptr<Competitor> make_cublas(cudaStream_t stream);
/// `best`: the fastest of the heuristic's list, measured; else the list's first.
std::unique_ptr<Competitor> make_cublaslt(cudaStream_t stream, bool best);

/// Both libraries share the status type, an enumeration of which 0 is success.
template <class Status>
void succeed_blas(Status status, const char* what) {
  if (int(status) != 0)
    throw std::runtime_error(std::string(what) + " failed with status " + std::to_string(int(status)));
}

}  // namespace tessera::perf
