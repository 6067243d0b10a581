// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plan cache as tests of it begin and end.
#pragma once

#include <tessera/tessera.hpp>

#include <cstdint>

namespace tessera::test {

inline constexpr std::int64_t kPlans = 1024, kBytes = 256 << 20;  // the limits at first

/// An empty cache with the usual limits, before and after a test.
class EmptyCache {
 public:
  EmptyCache() { reset(); }
  ~EmptyCache() { reset(); }

 private:
  static void reset() {
    plan_cache::limit(kPlans, kBytes);
    plan_cache::clear();
  }
};

inline GemmDesc square(std::int64_t n) { return {.m = n, .n = n, .k = n}; }

}  // namespace tessera::test
