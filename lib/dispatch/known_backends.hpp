// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backends that Tessera has, whether their plugins are here or not. The build tells their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::core {

/// A backend of Tessera's.
struct KnownBackend {
  std::string name;    ///< with its flavour, as TESSERA_BACKEND takes it
  std::string option;  ///< of CMake, which builds it: "TESSERA_BACKEND_KOKKOS"
};

const std::vector<KnownBackend>& known_backends();

/// What is to be said of a name that a user gave and no plugin has, where it is that of a backend of Tessera's, of a
/// family of them, or of one for another instruction set; "" of other names. `leveled`: the backends that are here for
/// some instruction set.
std::string not_built(std::string_view given, const std::vector<std::string>& leveled);

}  // namespace tessera::core
