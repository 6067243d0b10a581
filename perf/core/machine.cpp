// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "perf_build.hpp"  // written by CMake: commit and versions
#include "platform.hpp"

#include <fstream>
#include <thread>

namespace tessera::perf {

namespace {

#if defined(NDEBUG)
constexpr char kBuildType[] = "release";
#else
constexpr char kBuildType[] = "debug";
#endif

std::string cpu_field(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0 && line.find(':') != std::string::npos) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

Facts machine_facts() {
  return {{"tessera_version", TESSERA_PERF_VERSION},
          {"git_commit", TESSERA_PERF_COMMIT},
          {"compiler", TESSERA_PERF_COMPILER},
          {"eigen", TESSERA_PERF_EIGEN_VERSION},
          {"cpu_model", cpu_field("model name")},
          {"cpu_family_model", cpu_field("cpu family") + "/" + cpu_field("model\t")},
          {"cpu_mhz_at_start", cpu_field("cpu MHz")},
          {"cpu_threads", std::to_string(std::thread::hardware_concurrency())},
          {"library_build_type", kBuildType}};
}

}  // namespace tessera::perf
