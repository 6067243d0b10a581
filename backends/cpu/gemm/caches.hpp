// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The caches of one core.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace tessera::cpu {

struct Caches {
  std::int64_t level1, level2;  ///< bytes of data
};

/// As the system tells; where it does not (containers, aarch64), what the smallest of today's cores have.
inline Caches caches() {
  static const Caches found = [] {
    const long level1 = sysconf(_SC_LEVEL1_DCACHE_SIZE), level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return Caches{level1 > 0 ? level1 : 32 * 1024, level2 > 0 ? level2 : 512 * 1024};
  }();
  return found;
}

}  // namespace tessera::cpu
