// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// pthread_create() of this program, which all libraries of the process call, made to fail.
#pragma once

#include <limits>

namespace tessera::test {

struct ThreadLimits {
  static constexpr int kNone = std::numeric_limits<int>::max();
  int alive = kNone;          ///< most threads beside those that there are already
  int first_failing = kNone;  ///< the first call that fails, counted from 1
  int failing = kNone;        ///< how many fail from there on
};

/// From now on.
void limit_threads(const ThreadLimits& limits);
/// Threads that could not be created since then.
int threads_refused();

}  // namespace tessera::test
