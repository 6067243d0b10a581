// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Neighbours in memory that are read and written at once.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace tessera::cuda {

/// One access where they are at most 16 bytes, else several of 16.
template <class T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Vector {
  T value[kCount];
};

/// A vector in as few accesses as its alignment allows. Said, since the compiler takes one copied from memory to what
/// its elements are made of byte by byte.
template <class V>
__device__ __forceinline__ V read_at_once(const void* from) {
  const auto by = [&]<class Word>(Word) {
    Word words[sizeof(V) / sizeof(Word)];
#pragma unroll
    for (int i = 0; i < int(sizeof(V) / sizeof(Word)); ++i) words[i] = static_cast<const Word*>(from)[i];
    V vector;
    std::memcpy(&vector, words, sizeof vector);
    return vector;
  };
  if constexpr (sizeof(V) % sizeof(uint4) == 0)
    return by(uint4{});
  else if constexpr (sizeof(V) == sizeof(uint2))
    return by(uint2{});
  else if constexpr (sizeof(V) == sizeof(std::uint32_t))
    return by(std::uint32_t{});
  else
    return *static_cast<const V*>(from);
}

}  // namespace tessera::cuda
