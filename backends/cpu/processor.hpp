// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the machine describes itself.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace tessera::cpu {

/// The processor's name as Linux tells it, where it does (not on every aarch64).
inline std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(':');
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos && colon + 2 < line.size())
      return line.substr(colon + 2);
  }
  return "host";
}

inline std::uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? std::uint64_t(pages) * std::uint64_t(page) : 0;
}

}  // namespace tessera::cpu
