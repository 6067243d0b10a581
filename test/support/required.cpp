// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "required.hpp"

#include "processor.hpp"

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
bool processor_runs(const std::string& backend) {
  for (int level = 2; level <= 4; ++level)
    if (backend.ends_with("-v" + std::to_string(level))) return level_by_compiler() >= level;
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
