// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "numbers.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::cli {
namespace {

void print_json(const std::vector<BackendInfo>& found, const std::vector<BackendDirectory>& searched) {
  using Json = nlohmann::ordered_json;
  Json root{{"version", tessera_version()},
            {"types", Json::array()},
            {"searched", Json::array()},
            {"backends", Json::array()}};
  for (const DType dtype : kDTypes) root["types"].push_back(name_of(dtype));
  for (const BackendDirectory& d : searched)
    root["searched"].push_back({{"path", d.path}, {"origin", d.origin}, {"error", d.error}});
  for (const BackendInfo& b : found) {
    Json devices = Json::array();
    for (const DeviceInfo& d : b.devices) devices.push_back({{"name", d.name}, {"memory_bytes", d.memory_bytes}});
    root["backends"].push_back(
        {{"name", b.name},
         {"variant", b.variant},
         {"available", b.available},
         {"reason", b.reason},
         {"score", b.score},
         {"devices", devices},
         {"algorithms",
          {{"gemm", b.gemm_algorithms}, {"stencil", b.stencil_algorithms}, {"system", b.system_algorithms}}},
         {"path", b.path},
         {"build", b.build_info}});
  }
  // Names of devices and files need not be UTF-8.
  std::printf("%s\n", root.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

std::string joined(const std::vector<std::string>& names) {
  std::string line;
  for (const std::string& name : names) line += (line.empty() ? "" : ", ") + name;
  return line.empty() ? "none" : line;
}

std::string memory(std::uint64_t bytes) {
  char line[32];
  std::snprintf(line, sizeof line, "%.1f GiB", double(bytes) / double(1 << 30));
  return line;
}

void print_text(const std::vector<BackendInfo>& found, const std::vector<BackendDirectory>& searched) {
  std::printf("tessera %s\ntypes: %s\n\nsearched:\n", tessera_version(), element_names().c_str());
  for (const BackendDirectory& d : searched)
    std::printf("  %s (%s)%s\n", d.path.empty() ? "?" : d.path.c_str(), d.origin.c_str(),
                (d.error.empty() ? "" : ": " + d.error).c_str());
  for (const BackendInfo& b : found) {
    const auto row = [](const std::string& key, const std::string& value) {
      if (!value.empty()) std::printf("  %-10s%s\n", key.c_str(), value.c_str());
    };
    std::printf("\n%s: %s\n", (b.name + (b.variant.empty() ? "" : " (" + b.variant + ")")).c_str(),
                b.available ? "usable" : "not usable");
    row("reason", b.reason);
    for (std::size_t i = 0; i < b.devices.size(); ++i)
      row("device " + std::to_string(i), b.devices[i].name + ", " + memory(b.devices[i].memory_bytes));
    if (b.available) {
      char score[32];
      std::snprintf(score, sizeof score, "%.3g", b.score);
      row("score", score);
    }
    const bool known = b.available || !b.gemm_algorithms.empty() || !b.stencil_algorithms.empty();
    row("gemm", known ? joined(b.gemm_algorithms) : "");
    row("stencil", known ? joined(b.stencil_algorithms) : "");
    row("system", known ? joined(b.system_algorithms) : "");
    row("build", b.build_info);
    row("file", b.path);
  }
}

/// Throws where no plan could be made: a script that asks must not take the list for a yes.
void require_usable(const std::vector<BackendInfo>& found, const std::vector<BackendDirectory>& searched) {
  for (const BackendDirectory& d : searched)
    if (d.origin == "TESSERA_BACKEND_PATH" && !d.error.empty())
      throw std::runtime_error("TESSERA_BACKEND_PATH names '" + d.path + "', which cannot be read: " + d.error +
                               ": mend or remove the entry");
  if (found.empty())
    throw std::runtime_error("no backend was found; TESSERA_BACKEND_PATH adds directories to those searched");
  if (std::none_of(found.begin(), found.end(), [](const BackendInfo& b) { return b.available; }))
    throw std::runtime_error("no backend is usable");
  const Context chosen;  // throws where TESSERA_BACKEND names what cannot be had
}

}  // namespace

void add_info(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand(
      "info",
      "Lists backends, why each is or is not usable, devices and algorithms. Fails where none is usable, or the "
      "one that TESSERA_BACKEND names is not.");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  command->callback([json, &run] {
    run = [json] {
      const std::vector<BackendInfo> found = backends();
      const std::vector<BackendDirectory> searched = backend_directories();
      *json ? print_json(found, searched) : print_text(found, searched);
      require_usable(found, searched);
    };
  });
}

}  // namespace tessera::cli
