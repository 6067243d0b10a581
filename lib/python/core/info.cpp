// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "module.hpp"

namespace tessera::python {
namespace {

nb::dict described(const BackendInfo& backend) {
  nb::list devices;
  for (const DeviceInfo& device : backend.devices) {
    nb::dict entry;
    entry["name"] = device.name;
    entry["memory_bytes"] = device.memory_bytes;
    devices.append(entry);
  }
  nb::dict result;
  result["name"] = backend.name;
  result["variant"] = backend.variant;
  result["available"] = backend.available;
  result["reason"] = backend.reason;
  result["path"] = backend.path;
  result["build"] = backend.build_info;
  result["devices"] = devices;
  result["gemm_algorithms"] = backend.gemm_algorithms;
  result["stencil_algorithms"] = backend.stencil_algorithms;
  result["system_algorithms"] = backend.system_algorithms;
  return result;
}

nb::dict info() {
  nb::list found, searched;
  for (const BackendInfo& backend : backends()) found.append(described(backend));
  for (const BackendDirectory& directory : backend_directories()) {
    nb::dict entry;
    entry["path"] = directory.path;
    entry["origin"] = directory.origin;
    entry["error"] = directory.error;
    searched.append(entry);
  }
  nb::dict result;
  result["version"] = tessera_version();
  result["backends"] = found;
  result["directories"] = searched;
  return result;
}

}  // namespace

void define_info(nb::module_& module) {
  module.attr("version") = tessera_version();
  module.def(
      "info", info,
      "What there is: the version, each backend with its devices and algorithms, or why it cannot be used, and the "
      "directories where backends were looked for.");
  module.def(
      "reload_environment", [] { tessera::detail::call(tessera_reload_environment); },
      "Reads the TESSERA_ variables anew; the plan cache is cleared.");
}

}  // namespace tessera::python
