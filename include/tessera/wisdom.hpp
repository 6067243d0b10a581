// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Wisdom: what plans have measured, in this process and in files.
#pragma once

#include <tessera/error.hpp>

#include <string>

namespace tessera::wisdom {

/// Reads a file into the process; lines that this version cannot read are left out. Plans of the plan cache stay as
/// they are. Throws Error (invalid_argument) where the file cannot be read.
inline void load(const std::string& path) { detail::call(tessera_wisdom_load, path.c_str()); }

/// Adds the process's wisdom to a file, which need not exist: what else is in it stays, and several processes may do so
/// at a time. Throws Error (invalid_argument) where it cannot be written; it is then as it was.
inline void save(const std::string& path) { detail::call(tessera_wisdom_save, path.c_str()); }

/// Forgets the process's wisdom, and clears the plan cache.
inline void forget() { detail::call(tessera_wisdom_forget); }

}  // namespace tessera::wisdom
