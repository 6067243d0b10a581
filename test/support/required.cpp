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

bool is_required(const std::string& backend) {
  const auto names = required_backends();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == backend || backend.starts_with(name + "-") || name.starts_with(backend + "-");
  });
}

}  // namespace tessera::test
