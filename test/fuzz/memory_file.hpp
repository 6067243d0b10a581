// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the targets of the command line share: files in memory, and errors that are promised.
#pragma once

#include "bytes.hpp"

#include <tessera/error.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace tessera::test {

/// The name of a file with these bytes, until the next one is made.
inline std::string memory_file(std::span<const std::byte> bytes) {
  static const int descriptor = ::memfd_create("fuzz", MFD_CLOEXEC);
  require(descriptor >= 0 && ::ftruncate(descriptor, 0) == 0, "no file in memory");
  require(::pwrite(descriptor, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()), "a file is not written");
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// Runs `body`, which may throw `Expected` or say that an argument is invalid, in a message of at most so many bytes.
/// Whether it threw nothing.
template <class Expected, class Body>
bool allow(std::size_t longest, Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument && std::strlen(error.what()) < longest, error.what());
  } catch (const Expected& error) {
    require(std::strlen(error.what()) < longest, error.what());
  }
  return false;
}

}  // namespace tessera::test
