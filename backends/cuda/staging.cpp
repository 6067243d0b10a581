// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "staging.hpp"

#include "error.hpp"

namespace tessera::cuda {

void Staging::require() {
  for (int i = 0; i < 2; ++i) {
    if (chunk[i] == nullptr) {
      void* pinned = nullptr;
      if (const cudaError_t error = cudaMallocHost(&pinned, kChunkBytes); error != cudaSuccess)
        fail_allocation(error, "cudaMallocHost", kChunkBytes, "pinned host memory");
      chunk[i] = static_cast<unsigned char*>(pinned);
    }
    if (moved[i] == nullptr) TESSERA_CUDA_CHECK(cudaEventCreateWithFlags(&moved[i], cudaEventDisableTiming));
  }
}

void Staging::release() noexcept {
  for (int i = 0; i < 2; ++i) {
    if (chunk[i] != nullptr) ignore(cudaFreeHost(chunk[i]));
    if (moved[i] != nullptr) ignore(cudaEventDestroy(moved[i]));
    chunk[i] = nullptr;
    moved[i] = nullptr;
  }
}

}  // namespace tessera::cuda
