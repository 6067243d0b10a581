// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The processor's caches, as far as algorithms ask.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace tessera::cpu {

/// What a cache holds and memory moves at once.
inline constexpr std::int64_t kLineBytes = 64;

struct Caches {
  std::int64_t level1, level2;  ///< bytes of data that a core has for itself
  std::int64_t level3;          ///< bytes that the cores share
  int level2_ways;  ///< lines that the second level can hold of addresses that are equal modulo a way's size
};

/// As the C library tells them. Some systems on aarch64 and some virtual machines do not: then what small ones of
/// today's processors have.
inline Caches caches_of_this_processor() {
  const auto size = [](int name, std::int64_t fallback) {
    const long bytes = sysconf(name);
    return bytes > 0 ? std::int64_t(bytes) : fallback;
  };
  return {size(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), size(_SC_LEVEL2_CACHE_SIZE, 1 << 20),
          size(_SC_LEVEL3_CACHE_SIZE, 32 << 20), int(size(_SC_LEVEL2_CACHE_ASSOC, 8))};
}

}  // namespace tessera::cpu
