// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one place that opens a parallel region.
#pragma once

#include "threads.hpp"

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <exception>

namespace tessera::cpu {

/// One thread's place among those that share the work of an execution.
struct Team {
  int rank;
  int size;

  /// First of `units` units of work that this thread does; the next thread's first ends its range.
  std::int64_t begin(std::int64_t units) const { return share(units, rank); }
  std::int64_t end(std::int64_t units) const { return share(units, rank + 1); }

  /// Waits until every thread of the team has come here. To be called by all or by none.
  void barrier() const {
    if (size > 1) {
#pragma omp barrier
    }
  }

 private:
  /// Without units * r, which may overflow. Divisions are dear to a plan of one thread and few units.
  std::int64_t share(std::int64_t units, int r) const {
    return size == 1 ? units * r : units / size * r + units % size * r / size;
  }
};

/// Calls body(Team) on `threads` threads, or on as many as there can be: one inside a parallel region of the caller,
/// and in a forked child. Results must therefore not depend on Team::size; the units of work do not. OpenMP's settings
/// stay as the caller has them.
template <class Body>
void run_team(int threads, Body&& body) {
  if (threads <= 1 || omp_in_parallel()) return body(Team{0, 1});
  const int size = usable_threads(threads);
  if (size == 1) return body(Team{0, 1});
  std::exception_ptr error;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(size)
  {
    // An exception that leaves the region would end the program.
    try {
      body(Team{omp_get_thread_num(), omp_get_num_threads()});
    } catch (...) {
      if (!failed.test_and_set()) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace tessera::cpu
