// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Opening a plugin: the only use of dlopen.
#pragma once

#include <tessera/plugin/abi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::core {

/// A plugin's table, or the reason why there is none.
struct Loaded {
  const tessera_backend* table = nullptr;
  std::string reason;
};

/// Opens the plugin at an absolute path and asks for its table, which is not examined. Never closed again: OpenMP's
/// threads and device contexts outlive any use of it.
Loaded load_backend(const std::string& path);

/// The directory of the file that holds this code, without a trailing '/', whatever the current directory was or is.
/// Nothing where the system does not tell.
std::optional<std::string> own_directory();

/// The directory of the file mapped at `address`, read from the text of /proc/<process>/maps.
std::optional<std::string> mapped_directory(std::string_view maps, std::uintptr_t address);

/// True in a program that runs with more rights than its caller has (set-uid, say).
bool secure_execution();

}  // namespace tessera::core
