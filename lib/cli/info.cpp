// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "info_text.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
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
  root["not_built"] = Json::array();
  for (const UnbuiltBackend& b : unbuilt_backends())
    root["not_built"].push_back({{"name", b.name}, {"option", b.option}});
  // Names of devices and files need not be UTF-8.
  std::printf("%s\n", root.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
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
      if (*json)
        print_json(found, searched);
      else
        std::fputs(info_text(found, searched).c_str(), stdout);
      require_usable(found, searched);
    };
  });
}

}  // namespace tessera::cli
