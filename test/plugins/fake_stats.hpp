// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the fake backend saw, handed to tests through its "native stream".
#pragma once

#include <cstdint>

namespace tessera::test {

struct FakeStats {
  std::int64_t live_allocations = 0;
  std::int64_t live_plans = 0;
  std::int64_t copies = 0;
  std::int64_t allocations = 0;
  std::int64_t executions = 0;
  std::int64_t executions_of_dead_plans = 0;   ///< a plan went while its work was queued
  std::int32_t threads = 0;                    ///< as given to the context
  std::int32_t threads_of_the_one_before = 0;  ///< the context made before this one, of a plan perhaps
  void* wrapped_stream = nullptr;
};

}  // namespace tessera::test
