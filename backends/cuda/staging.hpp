// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The two pinned chunks through which pageable host memory travels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

namespace tessera::cuda {

/// Two chunks, so that the CPU packs one while the DMA engine moves the other. Taken on first use and
/// kept. Hold `mutex` while using them: a context's copies may come from several threads.
struct Staging {
  static constexpr std::size_t kChunkBytes = std::size_t(8) << 20;

  std::mutex mutex;
  unsigned char* chunk[2] = {nullptr, nullptr};
  cudaEvent_t moved[2] = {nullptr, nullptr};  ///< the last transfer from or to the chunk is complete

  /// Takes what is missing; may be called again after a failure.
  void require();
  /// Ignores errors; the destructor does not call it, since the context's device must be current.
  void release() noexcept;
};

}  // namespace tessera::cuda
