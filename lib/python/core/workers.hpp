// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Threads for the passes of filters, which wait between them.
#pragma once

#include <cstdint>
#include <functional>

namespace tessera::python {

/// Calls work(begin, end) for parts of [0, tasks) on up to `threads` threads, the caller's among them, in the caller's
/// floating-point mode. It waits for no thread that has not begun: where the system is busy or has no more threads, or
/// in the child of a fork, the caller does all of it. Throws what a call threw.
void in_parallel(std::int64_t tasks, int threads, const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace tessera::python
