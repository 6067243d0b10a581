// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Paths and directories, asked of the system itself: std::filesystem ends the program where memory ends.
#pragma once

#include <string>
#include <vector>

namespace tessera::core {

/// Throws where the error number says that memory or file descriptors are exhausted: that is no property of `path`, and
/// may be over at the next try.
void throw_shortage(int error, const std::string& path);

/// Without "..", "." and symbolic links; "" where there is no such path.
std::string real_path(const std::string& path);

/// What is in a directory, but for "." and "..".
struct Listing {
  std::vector<std::string> names;
  int error = 0;  ///< why it could not be read
};
Listing list_directory(const std::string& path);

}  // namespace tessera::core
