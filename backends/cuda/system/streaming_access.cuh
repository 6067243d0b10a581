// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Loads and stores of shared memory by its addresses, and stores that nobody reads soon.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tessera::cuda {

namespace detail {

__device__ __forceinline__ void load_shared(int& value, std::uint32_t from) {
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(from));
}
__device__ __forceinline__ void load_shared(float& value, std::uint32_t from) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from));
}
__device__ __forceinline__ void load_shared(double& value, std::uint32_t from) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(from));
}
__device__ __forceinline__ void load_shared(float (&v)[4], std::uint32_t from) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(from));
}
__device__ __forceinline__ void load_shared(double (&v)[2], std::uint32_t from) {
  asm volatile("ld.shared.v2.f64 {%0,%1}, [%2];" : "=d"(v[0]), "=d"(v[1]) : "r"(from));
}
__device__ __forceinline__ void store_shared(std::uint32_t to, const float (&v)[4]) {
  asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]));
}
__device__ __forceinline__ void store_shared(std::uint32_t to, const double (&v)[2]) {
  asm volatile("st.shared.v2.f64 [%0], {%1,%2};" ::"r"(to), "d"(v[0]), "d"(v[1]));
}
__device__ __forceinline__ void store_streaming(float* to, const float (&v)[4]) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(v[0], v[1], v[2], v[3]));
}
__device__ __forceinline__ void store_streaming(double* to, const double (&v)[2]) {
  __stcs(reinterpret_cast<double2*>(to), make_double2(v[0], v[1]));
}

}  // namespace detail

}  // namespace tessera::cuda
