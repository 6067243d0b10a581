// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The lines of TESSERA_VERBOSE: the only thing the library prints.
#pragma once

#include <string>

namespace tessera::core {

using VerboseCallback = void (*)(const char* line, void* user);

/// Null restores stderr. Waits until calls of the old one on other threads have returned.
void set_verbose_callback(VerboseCallback callback, void* user);
/// One line, to the callback or to stderr; lines of several threads do not mix. What a callback throws is dropped, and
/// so are lines that it causes itself.
void print_verbose(const std::string& line) noexcept;

}  // namespace tessera::core
