// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Opening a plugin: the only use of dlopen.
#pragma once

#include <tessera/plugin/abi.h>

#include <string>

namespace tessera::core {

/// A plugin's table, or the reason why there is none.
struct Loaded {
  const tessera_backend* table = nullptr;
  std::string reason;
};

/// Opens the plugin at an absolute path and checks that its table can be used. Never closed again: OpenMP's threads
/// and device contexts outlive any use of it.
Loaded load_backend(const std::string& path, const std::string& name);

/// The directory of the file that holds this code, without a trailing '/'.
std::string own_directory();

}  // namespace tessera::core
