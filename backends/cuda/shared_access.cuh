// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Values and vectors of 16 bytes in shared memory by their addresses. PTX, since the compiler keeps what neighbouring
/// loads have in common in registers, which costs more moves than loads.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tessera::cuda {

template <class S>
__device__ __forceinline__ void load_shared(std::uint32_t address, S* to) {
  if constexpr (sizeof(S) == 4)
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "r"(address));
  else
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(to[0]), "=d"(to[1]) : "r"(address));
}

/// Eight bytes.
__device__ __forceinline__ void load_shared_words(std::uint32_t address, std::uint32_t (&words)[2]) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(address));
}

template <class S>
__device__ __forceinline__ S load_shared_value(std::uint32_t address) {
  S value;
  if constexpr (sizeof(S) == 4)
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
  else
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address));
  return value;
}

template <class S>
__device__ __forceinline__ void store_shared(std::uint32_t to, S value) {
  if constexpr (sizeof(S) == 2)
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(value) : "memory");
  else if constexpr (sizeof(S) == 4)
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
  else
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(to), "d"(value) : "memory");
}

template <class S>
__device__ __forceinline__ void store_shared_vector(std::uint32_t to, const S* value) {
  if constexpr (sizeof(S) == 4)
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(value[0]), "f"(value[1]), "f"(value[2]),
                 "f"(value[3])
                 : "memory");
  else
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(value[0]), "d"(value[1]) : "memory");
}

}  // namespace tessera::cuda
