// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "required.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tessera::test {

std::vector<std::string> required_backends() {
  const char* const variable = std::getenv("TESSERA_REQUIRE_BACKENDS");
  std::vector<std::string> names;
  std::stringstream list(variable == nullptr ? "" : variable);
  for (std::string name; std::getline(list, name, ',');)
    if (!name.empty()) names.push_back(name);
  return names;
}

namespace {

/// Whether this processor runs a variant, like cpu-v4; true for backends without variants.
bool processor_runs([[maybe_unused]] const std::string& backend) {
#if defined(__x86_64__)
  if (backend.ends_with("-v4"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (backend.ends_with("-v3")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return true;
}

}  // namespace

bool is_required(const std::string& backend) {
  const auto names = required_backends();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == backend || (backend.starts_with(name + "-") && processor_runs(backend)) ||
           name.starts_with(backend + "-");
  });
}

}  // namespace tessera::test
