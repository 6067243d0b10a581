// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CPU backend's context: a number of threads, and host memory.
#pragma once

#include "threads.hpp"

#include <tessera/plugin/plugin.hpp>

#include <atomic>
#include <cstdint>

namespace tessera::cpu {

/// Work is done when execute() returns, so there is no stream and nothing to wait for.
class Context {
 public:
  explicit Context(const tessera_backend_context_desc& desc);

  int device() const { return 0; }
  /// Most threads that a plan of this context uses, 1 to kMostThreads; frozen here, whatever OpenMP is told later.
  int threads() const { return threads_; }

  /// 256-byte aligned memory. Consecutive blocks start at different offsets modulo 4 KiB.
  void* allocate(std::uint64_t bytes);
  void free(void* data) noexcept;
  void copy(const tessera_copy& copy);
  void synchronize() {}
  void* native_stream();

 private:
  int threads_;
  std::atomic<unsigned> allocations_{0};
};

/// The parameter `threads` of a plan.
inline int take_threads(plugin::PlanOptions options, int automatic) {
  return int(options.parameters.take("threads", automatic, 1, kMostThreads));
}

}  // namespace tessera::cpu
