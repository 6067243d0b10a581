// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backends that were found, usable or not: what `tessera info` prints.
#pragma once

#include <tessera/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// A device that a backend can use.
struct DeviceInfo {
  std::string name;
  std::uint64_t memory_bytes = 0;
};

/// A backend that was found, usable or not.
struct BackendInfo {
  std::string name;     ///< as in TESSERA_BACKEND
  std::string variant;  ///< instruction set the file was built for: "v4", or ""
  std::string path;
  std::string build_info;  ///< compiler and libraries; "" where it could not be loaded
  bool available = false;
  std::string reason;  ///< why it is not available
  double score = 0.0;  ///< predicted executions per second of a reference problem
  std::vector<DeviceInfo> devices;
  std::vector<std::string> gemm_algorithms, stencil_algorithms, system_algorithms;  ///< in the order of their rank
};

/// A directory that was searched for plugins.
struct BackendDirectory {
  std::string path;    ///< "" where the system does not tell which one it is
  std::string origin;  ///< "TESSERA_BACKEND_PATH", or how the library came to it
  std::string error;   ///< why it could not be read; "" when it was
};

/// A backend of Tessera's that was not built into this installation: no plugin of it was found.
struct UnbuiltBackend {
  std::string name;
  std::string option;  ///< of CMake, which builds it: "TESSERA_BACKEND_KOKKOS"
};

namespace detail {

inline std::vector<std::string> algorithm_names(std::int64_t backend, tessera_op op) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; const char* name = tessera_algorithm_name(backend, op, i); ++i) names.emplace_back(name);
  return names;
}

}  // namespace detail

/// In the order of the search. An entry of TESSERA_BACKEND_PATH that could not be read keeps contexts and plans from
/// being made.
inline std::vector<BackendDirectory> backend_directories() {
  std::vector<BackendDirectory> list;
  const char *origin = nullptr, *error = nullptr;
  for (std::int64_t i = 0; const char* path = tessera_backend_directory(i, &origin, &error); ++i)
    list.push_back({path, origin, error});
  return list;
}

/// The backends of Tessera's that were not built into this installation.
inline std::vector<UnbuiltBackend> unbuilt_backends() {
  std::vector<UnbuiltBackend> list;
  const char* option = nullptr;
  for (std::int64_t i = 0; const char* name = tessera_unbuilt_backend(i, &option); ++i) list.push_back({name, option});
  return list;
}

/// The backends that were found, one entry each, in alphabetical order. Loads the plugins on the first call.
inline std::vector<BackendInfo> backends() {
  std::vector<BackendInfo> list;
  const std::int64_t count = tessera_backend_count();
  if (count < 0)
    throw Error(ErrorCode::out_of_memory,
                "the plugins could not be looked for: memory or file descriptors are exhausted");
  for (std::int64_t index = 0; index < count; ++index) {
    tessera_backend_info c{};
    c.struct_size = sizeof c;
    detail::call(tessera_get_backend_info, index, &c);
    BackendInfo info{c.name,
                     c.variant,
                     c.path,
                     c.build_info,
                     c.available != 0,
                     c.reason,
                     c.score,
                     {},
                     detail::algorithm_names(index, TESSERA_OP_GEMM),
                     detail::algorithm_names(index, TESSERA_OP_STENCIL),
                     detail::algorithm_names(index, TESSERA_OP_SYSTEM)};
    for (std::int32_t device = 0; device < c.device_count; ++device) {
      tessera_device_info d{};
      d.struct_size = sizeof d;
      detail::call(tessera_get_device_info, index, device, &d);
      info.devices.push_back({d.name, d.memory_bytes});
    }
    list.push_back(std::move(info));
  }
  return list;
}

}  // namespace tessera
