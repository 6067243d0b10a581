// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// TESSERA_REQUIRE_BACKENDS: a comma list of the backends whose absence is a failure and not a skip.
#pragma once

#include <string>
#include <vector>

namespace tessera::test {

/// Its entries; none where the variable is not set.
std::vector<std::string> required_backends();

/// Whether an entry names the backend, its family or one of its variants: "cpu" requires "cpu-v3", where the processor
/// has its instruction set, and "cpu-v3" "cpu".
bool is_required(const std::string& backend);

}  // namespace tessera::test
