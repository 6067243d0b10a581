// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "hints.hpp"
#include "module.hpp"

#include "info_text.hpp"

namespace tessera::python {
namespace {

/// Names of devices and files need not be UTF-8.
nb::object decoded(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "replace"));
}

nb::dict described(const BackendInfo& backend) {
  nb::list devices;
  for (const DeviceInfo& device : backend.devices) {
    nb::dict entry;
    entry["name"] = decoded(device.name);
    entry["memory_bytes"] = device.memory_bytes;
    devices.append(entry);
  }
  nb::dict algorithms;
  algorithms["gemm"] = backend.gemm_algorithms;
  algorithms["stencil"] = backend.stencil_algorithms;
  algorithms["system"] = backend.system_algorithms;
  nb::dict result;
  result["name"] = backend.name;
  result["variant"] = backend.variant;
  result["available"] = backend.available;
  result["reason"] = decoded(backend.reason);
  result["score"] = backend.score;
  result["devices"] = devices;
  result["algorithms"] = algorithms;
  result["path"] = decoded(backend.path);
  result["build"] = decoded(backend.build_info);
  return result;
}

/// As `tessera info --json` has it.
nb::typed<nb::dict, nb::str, Any> info() {
  nb::list types, found, searched;
  for (const DType dtype : kDTypes) types.append(nb::str(name_of(dtype)));
  for (const BackendInfo& backend : backends()) found.append(described(backend));
  for (const BackendDirectory& directory : backend_directories()) {
    nb::dict entry;
    entry["path"] = decoded(directory.path);
    entry["origin"] = directory.origin;
    entry["error"] = decoded(directory.error);
    searched.append(entry);
  }
  nb::list unbuilt;
  for (const UnbuiltBackend& backend : unbuilt_backends()) {
    nb::dict entry;
    entry["name"] = backend.name;
    entry["option"] = backend.option;
    unbuilt.append(entry);
  }
  nb::dict result;
  result["version"] = tessera_version();
  result["types"] = types;
  result["searched"] = searched;
  result["backends"] = found;
  result["not_built"] = unbuilt;
  return result;
}

/// What `tessera info` prints, and its error; "" where a plan can be made.
nb::typed<nb::tuple, nb::bytes, nb::bytes> info_lines() {
  const std::vector<BackendInfo> found = backends();
  const std::vector<BackendDirectory> searched = backend_directories();
  std::string failure;
  try {
    cli::require_usable(found, searched);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::string text = cli::info_text(found, searched);
  return nb::make_tuple(nb::bytes(text.data(), text.size()), nb::bytes(failure.data(), failure.size()));
}

}  // namespace

void define_info(nb::module_& module) {
  module.attr("version") = tessera_version();
  module.def(
      "info", info,
      "What there is, as `tessera info --json` has it: the version, the types of elements, the directories where "
      "backends were looked for, each backend with its devices and algorithms, or why it cannot be used, and those of "
      "Tessera's that were not built, with CMake's option.");
  module.def("_info_lines", info_lines, "What `tessera info` prints, and its error.");
  module.def(
      "reload_environment", [] { tessera::detail::call(tessera_reload_environment); },
      "Reads the TESSERA_ variables anew; the plan cache is cleared.");
}

}  // namespace tessera::python
