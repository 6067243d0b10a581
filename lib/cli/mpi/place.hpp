// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where a rank computes.
#pragma once

#include "commands.hpp"
#include "ranks.hpp"

#include <tessera/context.hpp>

namespace tessera::cli {

/// The options of a Choice as ranks understand them: --backend is TESSERA_BACKEND where it is not given.
void add_place(CLI::App& command, Choice& choice);

/// A context of the backend that was chosen. Where that has several devices and none was named, rank r of a host takes
/// device r, and begins again with the first where there are more ranks.
Context context_of(const Choice& choice, const Ranks& ranks);

}  // namespace tessera::cli
