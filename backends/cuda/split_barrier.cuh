// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A barrier in shared memory that is arrived at first and waited for later (PTX mbarrier).
#pragma once

#include "cp_async.cuh"

#include <cstdint>

namespace tessera::cuda {

/// Who has waited sees what was written before the arrivals.
class SplitBarrier {
 public:
  /// By one thread; the others may use it after a __syncthreads().
  __device__ void init(unsigned arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&state_)), "r"(arrivals) : "memory");
  }
  __device__ void arrive() {
    asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(shared_address(&state_))
                 : "memory");
  }
  /// Until the first phase (parity 0), the second (1), the third (0), ... has all its arrivals. At most one phase may
  /// have ended since the one that is waited for.
  __device__ void wait(unsigned parity) {
    unsigned done;
    do
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(shared_address(&state_)), "r"(parity)
                   : "memory");
    while (done == 0);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tessera::cuda
