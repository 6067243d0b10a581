// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Threads of OpenMP that stay: a parallel region that outlives executions. An execution that opened a region of its
/// own would wait at the region's end for each thread to enter and to leave it, and OpenMP's threads spin for
/// milliseconds before and after. Here nobody waits for a thread that has not begun: another takes its share.
#pragma once

#include "parallel.hpp"
#include "threads.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>

namespace tessera::cpu {

/// A caller and its workers, who do one execution at a time. Never destroyed once it has workers.
///
/// `phase_` counts the steps of all executions. The share of rank r in the current step p is free while its seat's
/// `claimed` is p, and belongs to whoever sets that to p + 1. Until this share is done the execution goes on, and
/// nobody writes its fields; whoever read those of another execution fails to claim. So late threads may look at any
/// time.
class Crew {
 public:
  /// Workers for `size` shares, or as many as there can be; the caller does the first. Returns the number of shares.
  int gather(int size);
  /// All steps, each of `size` shares, at most what gather() returned. Throws what a share threw. Returns how many
  /// shares of the workers the caller did.
  std::int64_t run(int size, const Steps& steps);

  Crew* next_idle = nullptr;  ///< of a list

 private:
  /// A share's, and a worker's.
  struct alignas(64) Seat {
    std::atomic<std::uint64_t> claimed{0}, finished{0};
    std::atomic<int> processor{-1};        ///< that its share was begun on
    std::atomic<std::uint32_t> asleep{0};  ///< its worker, between executions
  };
  /// Workers that one region adds.
  struct Squad {
    Crew* crew;
    int first_rank, count;
  };

  void enlist(int wanted);
  static void* open_region(void* squad);
  void live(int rank, int present);
  void work(int rank);
  bool take(std::uint64_t phase, int share);
  bool help(std::uint64_t phase, int rank, int size);
  bool waits_for_own_processor(std::uint64_t phase, int size) const;
  void wait_for_step(std::uint64_t phase, int rank, int size, bool last);
  void sleep_until_after(std::uint64_t phase);
  void wait_for_execution(int rank, std::uint64_t seen);
  void wake_workers(int size);
  void leave_others_processors(int rank, int size);

  std::array<Seat, kMostThreads> seats_;
  int workers_ = 0;          ///< that there are
  int patience_ = 0;         ///< executions until more are asked for again
  int current_ = 0;          ///< seats whose `claimed` has followed the phase
  std::int64_t helped_ = 0;  ///< shares that the caller did for workers, in this execution
  std::atomic<int> present_{0}, arrived_{0};

  // Of the current execution.
  std::atomic<decltype(Steps::call)> call_{nullptr};
  std::atomic<void*> body_{nullptr};
  std::atomic<std::uint64_t> first_{0};
  std::atomic<int> size_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  alignas(64) std::atomic<std::uint64_t> end_{0};  ///< the phase that ends it
  std::atomic<int> asleep_{0};                     ///< workers between executions
  alignas(64) std::atomic<std::uint64_t> phase_{0};
  std::atomic<int> sleepers_{0};          ///< in a step
  std::atomic<std::uint32_t> bell_{0};    ///< rung for them
  alignas(64) std::atomic<int> done_{0};  ///< shares of the current step
};

}  // namespace tessera::cpu
