// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Neighbouring points of a row that are accessed 16 bytes at a time.
#pragma once

#include "../convert.cuh"
#include "../vector.cuh"
#include "../vector_access.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace tessera::cuda {

template <class T>
using RowVector = Vector<T, kVectorWidth<T>>;

/// Loads the values of kWidth elements through the read-only path, in one access where they are 16 bytes, to which
/// `from` is then aligned.
template <int kWidth, class T>
__device__ __forceinline__ void load_vector(const T* from, Scalar<T>* to) {
  if constexpr (kWidth == kVectorWidth<T>) {
    const uint4 raw = __ldg(reinterpret_cast<const uint4*>(from));
    if constexpr (kNarrow<T>) {
      RowVector<T> vector;
      memcpy(&vector, &raw, sizeof raw);
      widen(vector, to);
    } else {
      memcpy(to, &raw, sizeof raw);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = value_at(from + i);
  }
}

/// Stores kWidth values likewise, rounded, to device memory. PTX, since the compiler takes the assignment of a vector
/// apart.
template <int kWidth, class T>
__device__ __forceinline__ void store_vector(T* to, const Scalar<T>* from) {
  if constexpr (kWidth == 4 && sizeof(T) == 4) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "f"(from[0]),
                 "f"(from[1]), "f"(from[2]), "f"(from[3]));
  } else if constexpr (kWidth == 2 && sizeof(T) == 8) {
    asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "d"(from[0]), "d"(from[1]));
  } else if constexpr (kWidth == 8 && sizeof(T) == 2) {
    const RowVector<T> vector = elements_of<T, kWidth>(from);
    unsigned words[4];
    memcpy(words, &vector, sizeof words);
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3]));
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = rounded<T>(from[i]);
  }
}

/// Copies kWidth elements likewise.
template <int kWidth, class T>
__device__ __forceinline__ void copy_vector(const T* from, T* to) {
  if constexpr (kWidth == kVectorWidth<T>) {
    *reinterpret_cast<uint4*>(to) = __ldg(reinterpret_cast<const uint4*>(from));
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = load_read_only(from + i);
  }
}

/// Copies a lane's kColumns neighbouring columns of a row to and from shared memory. The row is stored in parts, the
/// first vectors of all lanes before the second ones, so that lanes find theirs in different banks.
template <int kColumns, class T>
__device__ __forceinline__ void copy_columns(const T (&row)[kColumns], RowVector<T>* to) {
  constexpr int kWidth = kVectorWidth<T>;
#pragma unroll
  for (int v = 0; v < kColumns; v += kWidth) {
    RowVector<T> part;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) part.value[i] = row[v + i];
    to[v / kWidth * 32] = part;
  }
}
template <int kColumns, class T>
__device__ __forceinline__ void copy_columns(const RowVector<T>* from, T (&row)[kColumns]) {
  constexpr int kWidth = kVectorWidth<T>;
#pragma unroll
  for (int v = 0; v < kColumns; v += kWidth) {
    const RowVector<T> part = from[v / kWidth * 32];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) row[v + i] = part.value[i];
  }
}

/// Whether rows of an array of those strides begin on multiples of 16 bytes. rank: axes that the array has.
template <class T>
bool rows_aligned(const T* data, const std::int64_t (&strides)[3], int rank) {
  constexpr int kWidth = kVectorWidth<T>;
  return at_vector(data) && (rank < 2 || strides[1] % kWidth == 0) && (rank < 3 || strides[0] % kWidth == 0);
}

}  // namespace tessera::cuda
