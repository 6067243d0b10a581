// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "place.hpp"

#include <tessera/backends.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::cli {
namespace {

/// The backend of that name, or the one that a context takes by itself; null where there is none.
const BackendInfo* find(const std::vector<BackendInfo>& list, const std::string& name) {
  const BackendInfo* best = nullptr;
  for (const BackendInfo& backend : list) {
    if (backend.name == name) return &backend;
    const bool any = name.empty() || name == "auto";
    if (any && backend.available && (best == nullptr || backend.score > best->score)) best = &backend;
  }
  return best;
}

}  // namespace

void add_place(CLI::App& command, Choice& choice) {
  choice.add_to(command, "TESSERA_BACKEND, else the best here; ranks of a host take its devices in turn");
  command.get_option("--backend")->envname("TESSERA_BACKEND");
}

Context context_of(const Choice& choice, const Ranks& ranks) {
  const std::string& name = choice.backend;
  if (name.find(':') == std::string::npos) {
    const std::vector<BackendInfo> list = backends();
    if (const BackendInfo* const backend = find(list, name); backend != nullptr && backend->devices.size() > 1)
      return Context(backend->name + ":" + std::to_string(std::size_t(ranks.on_host()) % backend->devices.size()));
  }
  return name.empty() ? Context() : Context(name);
}

}  // namespace tessera::cli
