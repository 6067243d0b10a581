// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the fake backend saw, handed to tests through its "native stream", and how it is told to fail.
///
/// TESSERA_FAKE_FAULT="entry:n[+][:memory]" makes the n-th call of an entry fail, counted from 1 since the variable got
/// this text, with "+" also all calls behind it; as an exhausted device with ":memory", else with a device error. The
/// entries: context_create, buffer_allocate, copy, plan_create, plan_execute, synchronize. Read at every call.
#pragma once

#include <thread>

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
  std::int32_t high_priority = 0;
  std::int32_t multiprocessors = 0;  ///< that the product's plan made last may occupy
  std::int64_t waits = 0;            ///< calls of wait_for, which "fatal" has
  void* wrapped_stream = nullptr;
  std::thread::id executed_by;  ///< thread of the last plan_execute
  /// Of all contexts of the process together, as of the last call of native_stream.
  std::int64_t contexts_of_process = 0, allocations_of_process = 0, plans_of_process = 0;
};

}  // namespace tessera::test
