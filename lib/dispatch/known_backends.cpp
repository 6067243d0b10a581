// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/known_backends.hpp"

#include "dispatch/registry.hpp"

#include <algorithm>

namespace tessera::core {
namespace {

/// "TESSERA_BACKEND_KOKKOS" of the backend "kokkos-openmp": the options have the names of the folders.
std::string option_of(std::string_view kind, std::string_view name, std::string_view end = "") {
  std::string option = "TESSERA_" + std::string(kind);
  for (const char c : name.substr(0, name.find('-'))) option += c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  return option.append(end);
}

std::string sentence(const std::string& what, const std::string& setting) {
  return "Tessera has " + what + ", but it was not built into this installation: configure with " + setting +
         ", and the summary says what that needs";
}

}  // namespace

const std::vector<KnownBackend>& known_backends() {
  static const auto* const known = [] {
    auto* list = new std::vector<KnownBackend>;  // never destroyed, as the registry
    std::string_view names = TESSERA_BACKENDS;   // with a space between two
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find(' '));
      list->push_back({std::string(name), option_of("BACKEND_", name)});
      names.remove_prefix(std::min(names.size(), name.size() + 1));
    }
    return list;
  }();
  return *known;
}

std::string not_built(std::string_view given, const std::vector<std::string>& leveled) {
  PluginFile file;
  parse_plugin_name("libtessera_backend_" + std::string(given) + ".so", file);
  for (const KnownBackend& known : known_backends()) {
    if (matches(given, known.name, "")) return sentence("this backend", "-D" + known.option + "=ON");
    if (file.variant.empty() || file.name != known.name) continue;
    if (std::find(leveled.begin(), leveled.end(), known.name) == leveled.end())
      return sentence("the backend " + known.name, "-D" + known.option + "=ON");
    return sentence(known.name + " for this instruction set",
                    file.variant + " in -D" + option_of("", known.name, "_VARIANTS"));
  }
  return "";
}

}  // namespace tessera::core
