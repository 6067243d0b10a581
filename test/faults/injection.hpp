// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Calls that fail: the n-th of a family, once or for good, in every library of this process that binds to the
/// definitions here.
#pragma once

#include <cstdint>

namespace tessera::test {

enum class Family {
  none,
  memory,     ///< malloc, calloc, realloc, posix_memalign, aligned_alloc, and so operator new
  files,      ///< opening, reading, listing and resolving
  libraries,  ///< dlopen
  device      ///< what plugins of the tests do with a device
};
enum class Extent { once, for_good };

/// While it lives, the `nth` call of the family fails (1: the first from now on), or that one and all that follow. What
/// OpenMP's runtime asks for is neither counted nor refused, since it ends the program then. One at a time.
class Injection {
 public:
  Injection(Family family, Extent extent, std::int64_t nth);
  ~Injection();
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;
  /// Whether the n-th call has come.
  bool hit() const;
};

/// Blocks of memory that were taken and not given back; 0 under AddressSanitizer, which looks for leaks itself.
std::int64_t live_blocks();
/// What a plugin of the tests made on its device and did not destroy.
std::int64_t live_device_objects();

}  // namespace tessera::test
