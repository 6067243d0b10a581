// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Wisdom as plans use it: of the process, and of the file that TESSERA_WISDOM names. What is wrong with that file is
/// said, and harms no plan.
#pragma once

#include "wisdom/wisdom.hpp"

#include <optional>
#include <string>

namespace tessera::core {

/// `verbose`: whether a line says what was ignored.
std::optional<WisdomEntry> recall(const std::string& problem, const std::string& machine, bool verbose);
/// `in_file`: there, too, where one is named.
void remember(const WisdomEntry& entry, bool in_file, bool verbose);

}  // namespace tessera::core
