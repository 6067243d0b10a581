// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The processor's caches, as far as algorithms ask.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace tessera::cpu {

struct Caches {
  std::int64_t level1, level2;  ///< bytes of data that a core has for itself
  std::int64_t level3;          ///< bytes that the cores share
};

/// As the C library tells them; where it does not (some systems on aarch64, some virtual machines), what small ones of
/// today's processors have.
inline const Caches& caches() {
  static const Caches found = [] {
    const auto size = [](int name, std::int64_t fallback) {
      const long bytes = sysconf(name);
      return bytes > 0 ? std::int64_t(bytes) : fallback;
    };
    return Caches{size(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), size(_SC_LEVEL2_CACHE_SIZE, 1 << 20),
                  size(_SC_LEVEL3_CACHE_SIZE, 32 << 20)};
  }();
  return found;
}

}  // namespace tessera::cpu
