// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Accesses of 16 bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace tessera::cuda {

/// Elements in 16 bytes.
template <class T>
inline constexpr int kVectorWidth = int(16 / sizeof(T));

/// kWidth elements through the read-only path: one access where they are 16 bytes, which `from` is then aligned to.
template <int kWidth, class T>
__device__ __forceinline__ void load_vector(const T* from, T* to) {
  if constexpr (kWidth == kVectorWidth<T>) {
    const uint4 raw = __ldg(reinterpret_cast<const uint4*>(from));
    memcpy(to, &raw, sizeof raw);
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = __ldg(from + i);
  }
}

template <int kWidth, class T>
__device__ __forceinline__ void store_vector(T* to, const T* from) {
  if constexpr (kWidth == kVectorWidth<T>) {
    uint4 raw;
    memcpy(&raw, from, sizeof raw);
    *reinterpret_cast<uint4*>(to) = raw;
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = from[i];
  }
}

/// Whether rows of an array of those strides begin on multiples of 16 bytes.
template <class T>
bool rows_aligned(const T* data, const std::int64_t (&strides)[3]) {
  constexpr int kWidth = kVectorWidth<T>;
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && strides[0] % kWidth == 0 && strides[1] % kWidth == 0;
}

}  // namespace tessera::cuda
