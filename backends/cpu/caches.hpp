// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The processor's caches, as far as algorithms ask.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace tessera::cpu {

struct Caches {
  std::int64_t core;  ///< bytes of the second level, which a core has for itself
  std::int64_t last;  ///< bytes of the last level, which the cores share
};

/// As the C library tells them; where it does not (some systems on aarch64, some virtual machines), what most
/// processors have.
inline Caches host_caches() {
  const auto size = [](int name, std::int64_t fallback) {
    const long bytes = sysconf(name);
    return bytes > 0 ? std::int64_t(bytes) : fallback;
  };
  const std::int64_t core = size(_SC_LEVEL2_CACHE_SIZE, std::int64_t{1} << 20);
  return {core, size(_SC_LEVEL3_CACHE_SIZE, std::int64_t{32} << 20)};
}

}  // namespace tessera::cpu
