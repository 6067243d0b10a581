// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The lines of TESSERA_VERBOSE: the only thing the library prints.
#pragma once

#include <string>

namespace tessera::core {

using VerboseCallback = void (*)(const char* line, void* user);

/// Null restores stderr.
void set_verbose_callback(VerboseCallback callback, void* user);
/// One line, to the callback or to stderr; lines of several threads do not mix.
void print_verbose(const std::string& line);

}  // namespace tessera::core
