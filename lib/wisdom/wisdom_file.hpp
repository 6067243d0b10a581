// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Files of wisdom: a line an entry. Several processes may write one at a time, and nothing is lost.
#pragma once

#include "wisdom/wisdom.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tessera::core {

struct WisdomFile {
  std::vector<WisdomEntry> entries;
  std::vector<std::string> others;  ///< lines that are none of this version
};

/// Throws plugin::Error (invalid_argument) with the path and the reason where it is no regular file, cannot be read, or
/// has more than 64 MiB. A file that does not exist is an error, too.
WisdomFile read_wisdom_file(const std::string& path);

/// Adds entries to a file, which need not exist; those of the same problem and machine are replaced. Other lines stay.
/// The new file takes the old one's place when it is complete, with its permissions. Throws plugin::Error
/// (invalid_argument) with the path and the reason; the file is then as it was.
void merge_into_wisdom_file(const std::string& path, std::span<const WisdomEntry> entries);

/// Changes with the file's contents; "" where there is none.
std::string state_of_file(const std::string& path);

}  // namespace tessera::core
