// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "backends.hpp"

#include <tessera/backends.hpp>

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace showcase {
std::vector<Backend> open_backends(Report& report) {
  std::vector<Backend> backends;
  for (const tessera::BackendInfo& info : tessera::backends()) {
    if (!info.available) {
      std::printf("backend %s is not usable: %s\n", info.name.c_str(), info.reason.c_str());
      continue;
    }
    try {
      std::printf("backend %s: %s (%s)\n", info.name.c_str(), info.devices.front().name.c_str(),
                  info.build_info.c_str());
      backends.push_back({info.name, tessera::Context(info.name), info.gemm_algorithms, info.stencil_algorithms,
                          info.system_algorithms});
    } catch (const tessera::Error& error) {
      report.failed("backend " + info.name + ": " + error.what());
    }
  }
  const char* const required = std::getenv("TESSERA_REQUIRE_BACKENDS");
  std::istringstream names(required == nullptr ? "" : required);
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty()) continue;
    try {
      tessera::Context context(name);
    } catch (const tessera::Error& error) {
      report.failed("TESSERA_REQUIRE_BACKENDS names " + name + ", but " + error.what());
    }
  }
  if (backends.empty()) report.failed("no backend is usable");
  return backends;
}

}  // namespace showcase
