// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Whether dlopen can be given a file. It believes what an ELF file says of itself: where the file was cut off, the
/// process dies of SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace tessera::core {

/// Copies `bytes` bytes at `offset` of a file; false when they cannot be read.
using ReadAt = std::function<bool(std::uint64_t offset, void* target, std::size_t bytes)>;

/// Why a file of `size` bytes is no shared library for this machine, or not a whole one; "" when it is.
std::string elf_problem(std::uint64_t size, const ReadAt& read);

}  // namespace tessera::core
