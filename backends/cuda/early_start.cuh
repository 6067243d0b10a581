// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Kernels that begin while the one before them in their stream still runs ("programmatic dependent launch" in the CUDA
/// C++ Programming Guide): launched with EarlyStart. Code for older devices compiles to nothing; can_start_early() says
/// where that is so.
#pragma once

namespace tessera::cuda {

/// Lets the next launch begin as soon as all blocks of this one have come here, or ended.
__device__ __forceinline__ void start_successor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the launch before has ended and what it wrote can be read. A launch ends no sooner than its threads do:
/// the last of a chain has waited for all of it.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace tessera::cuda
