// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Non-temporal stores go past the caches: the line is not read before it is written, and nothing useful is evicted for
/// it.
#pragma once

#include "caches.hpp"
#include "vector.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::cpu {

/// Stores a vector of kVectorBytes at an address that is a multiple of that. Whole lines should be written.
template <class V>
inline void nontemporal_store(void* to, V value) {
  static_assert(sizeof(V) == kVectorBytes);
#if defined(__clang__)
  __builtin_nontemporal_store(value, static_cast<V*>(to));
#elif defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#elif defined(__AVX__)
  _mm256_stream_si256(static_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
#elif defined(__x86_64__)
  _mm_stream_si128(static_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
#else
  std::memcpy(to, &value, sizeof value);
#endif
}

/// Copies a line to an aligned address, from an aligned one.
inline void nontemporal_store_line(void* to, const void* from) {
  for (std::int64_t at = 0; at < kLineBytes; at += kVectorBytes) {
    Vector<unsigned char> value;
    std::memcpy(&value, static_cast<const unsigned char*>(from) + at, sizeof value);
    nontemporal_store(static_cast<unsigned char*>(to) + at, value);
  }
}

/// To be called by a thread after its non-temporal stores, before it tells others that they are there.
inline void nontemporal_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace tessera::cpu
