// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C functions that tell which backends there are.

#include <tessera/tessera.h>

#include "api/arguments.hpp"
#include "check.hpp"
#include "dispatch/candidates.hpp"
#include "dispatch/registry.hpp"

#include <tessera/plugin/structs.hpp>

using namespace tessera;
using api::guard;
using core::Backend;
using plugin::write_struct;

namespace {

Backend& backend_at(std::int64_t index) {
  const auto& backends = core::Registry::instance().backends();
  if (index < 0 || std::size_t(index) >= backends.size())
    core::invalid("backend", index, "must lie in [0, " + std::to_string(backends.size()) + ")");
  return *backends[std::size_t(index)];
}

}  // namespace

int64_t tessera_backend_count(void) {
  std::int64_t count = -1;
  guard(nullptr, [&] { count = std::int64_t(core::Registry::instance().backends().size()); });
  return count;
}

tessera_status tessera_get_backend_info(int64_t backend, tessera_backend_info* info, tessera_error* error) {
  return guard(error, [&] {
    Backend& b = backend_at(backend);
    const bool available = b.reason().empty();
    write_struct({sizeof *info, b.name().c_str(), b.variant().c_str(), b.path().c_str(), b.build_info().c_str(),
                  b.reason().c_str(), available, b.device_count(), available ? core::reference_score(b, 0) : 0.0},
                 info, "info");
  });
}

tessera_status tessera_get_device_info(int64_t backend, int32_t device, tessera_device_info* info,
                                       tessera_error* error) {
  return guard(error, [&] {
    Backend& b = backend_at(backend);
    if (!b.reason().empty()) throw plugin::Error(TESSERA_BACKEND_UNAVAILABLE, b.name() + ": " + b.reason());
    if (device < 0 || device >= b.device_count())
      core::invalid("device", device, "must lie in [0, " + std::to_string(b.device_count()) + ")");
    const core::DeviceDescription& known = b.devices()[std::size_t(device)];
    write_struct({sizeof *info, known.name.c_str(), known.memory_bytes}, info, "info");
  });
}

const char* tessera_algorithm_name(int64_t backend, tessera_op op, int64_t index) {
  const char* name = nullptr;
  guard(nullptr, [&] {
    const std::vector<std::string>& names = backend_at(backend).algorithms(op);
    if (index >= 0 && std::uint64_t(index) < names.size()) name = names[std::size_t(index)].c_str();
  });
  return name;
}

const char* tessera_backend_directory(int64_t index, const char** origin, const char** error) {
  const char* path = nullptr;
  guard(nullptr, [&] {
    const auto& searched = core::Registry::instance().searched();
    if (index < 0 || std::uint64_t(index) >= searched.size()) return;
    const core::SearchedDirectory& directory = searched[std::size_t(index)];
    if (origin != nullptr) *origin = directory.origin.c_str();
    if (error != nullptr) *error = directory.error.c_str();
    path = directory.path.c_str();
  });
  return path;
}

const char* tessera_unbuilt_backend(int64_t index, const char** option) {
  const char* name = nullptr;
  guard(nullptr, [&] {
    const std::vector<core::KnownBackend>& unbuilt = core::Registry::instance().unbuilt();
    if (index < 0 || std::uint64_t(index) >= unbuilt.size()) return;
    if (option != nullptr) *option = unbuilt[std::size_t(index)].option.c_str();
    name = unbuilt[std::size_t(index)].name.c_str();
  });
  return name;
}
