// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The parts of the suite that need a certain machine: found beside the program, in ../lib/tessera-perf.
#pragma once

#include "library_peers.hpp"

namespace tessera::perf {

/// "host" (with the best instruction set that this processor has), "cuda", "cublas". Throws with the reason.
Library open_module(const std::string& name);

/// A libraries' path as CMake found it, or what TESSERA_PERF_<NAME> says; "" where there is none.
std::string library_path(const std::string& name);

}  // namespace tessera::perf
