// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "module.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace tessera::perf {

namespace {

bool processor_has(const std::string& level) {
#if defined(__x86_64__)
  if (level == "-v4")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (level == "-v3")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#endif
  return level.empty();
}

}  // namespace

Library open_module(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::canonical("/proc/self/exe").parent_path().parent_path() / "lib" / "tessera-perf";
  for (const std::string level : {"-v4", "-v3", ""}) {
    const fs::path file = folder / ("libtessera_perf_" + name + level + ".so");
    if (fs::exists(file) && processor_has(level)) return Library(file.string());
  }
  throw std::runtime_error("the suite's part for " + name + " is not in " + folder.string() +
                           " (what CMake left out is in its summary, \"perf peers\")");
}

std::string library_path(const std::string& name) {
  std::string variable = "TESSERA_PERF_" + name;
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return char(std::toupper(c)); });
  if (const char* given = std::getenv(variable.c_str())) return given;
  if (name == "openblas") return TESSERA_PERF_OPENBLAS;
  if (name == "numpy_openblas") return TESSERA_PERF_NUMPY_OPENBLAS;
  if (name == "blis") return TESSERA_PERF_BLIS;
  if (name == "onednn") return TESSERA_PERF_ONEDNN;
  if (name == "mkl") return TESSERA_PERF_MKL;
  return "";
}

}  // namespace tessera::perf
