// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies from global to shared memory that a thread starts and waits for later (PTX cp.async).
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Has the line of memory around an address come to the second-level cache.
__device__ __forceinline__ void prefetch_line(const void* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
}

/// Copies so many bytes of 16, to and from multiples of 16 bytes, and writes zeros for the others. Past the first-level
/// cache: nobody else on this multiprocessor reads them.
__device__ __forceinline__ void cp_async_part(std::uint32_t shared, const void* global, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes));
}

/// Copies kBytes (2, 4, 8 or 16; both addresses aligned to it), or writes zeros where the source does not
/// exist and is not looked at. No asynchronous copy is as short as 2 bytes: they pass through a register.
template <int kBytes>
__device__ __forceinline__ void cp_async(std::uint32_t shared, const void* global, bool exists) {
  if constexpr (kBytes == 2) {
    const std::uint16_t value = exists ? __ldg(static_cast<const std::uint16_t*>(global)) : std::uint16_t(0);
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(shared), "h"(value));
  } else if constexpr (kBytes == 16)
    cp_async_part(shared, global, exists ? kBytes : 0);
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(global), "n"(kBytes),
                 "r"(exists ? kBytes : 0));
}

/// Closes a group of the copies started since the last one.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;"); }

/// Waits until at most the last kGroups groups of this thread are under way.
template <int kGroups>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

}  // namespace tessera::cuda
