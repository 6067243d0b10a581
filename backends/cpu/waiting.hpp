// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a thread of the pool waits: it spins for some time, then it sleeps.
#pragma once

#include "processors.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tessera::cpu {

// Times are in nanoseconds. They follow from how schedulers work, not from the number of cores: one takes a processor
// away at its ticks, 1 to 10 ms apart, and needs some tens of microseconds to let a thread sleep and to wake it. The
// figures were compared on two cores (docs/notes/threads.md), whose ticks were 4 ms apart.

/// That a thread spins where processors are free: between executions, so that the next one of a loop finds its workers
/// awake, and between steps. It is also what an execution costs each processor afterwards, at most.
inline constexpr std::int64_t kExecutionPatience = 2'000'000, kStepPatience = 1'000'000;
/// And where processors are in demand: as long as it takes to sleep and to be woken, so that a wait costs at most twice
/// what the better choice would have. With 5 us stencils took half as long again, with 200 at times five times as long.
inline constexpr std::int64_t kBusyPatience = 50'000;
/// Processors are taken to be in demand so long after a thread of ours had to wait for one: some ticks, in which others
/// have their turn.
inline constexpr std::int64_t kBusyMemory = 30'000'000;
/// A delay that only a thread without a processor explains: longer than interrupts, shorter than a tick.
inline constexpr std::int64_t kOffProcessor = 200'000;
/// Pauses before anything else, 0.2 to 3 us by the processor's length of one: threads that have a processor come within
/// that time, as a rule.
inline constexpr int kFirstPauses = 64;
/// Naps after an execution, where processors are in demand, before a worker sleeps until it is woken: a nap is no
/// longer than a tick, so that the worker wakes in every turn of the caller's, and all together cost 20 wake-ups.
inline constexpr std::int64_t kNaps = 20, kNap = 1'000'000;

using Clock = std::chrono::steady_clock;
inline std::int64_t nanoseconds() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

using Word = std::atomic<std::uint32_t>;
/// Sleeps until woken, unless `word` has another value than `value` by then; or wakes `value` threads. Not
/// std::atomic::wait(), which yields before it sleeps and so gives up the rest of a turn.
inline void futex(Word& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

inline std::atomic<std::int64_t> busy_until{0};
inline void note_busy(std::int64_t now) { busy_until.store(now + kBusyMemory, std::memory_order_relaxed); }
inline bool is_busy(std::int64_t now) { return now < busy_until.load(std::memory_order_relaxed); }

inline int processors() {
  static const int allowed = allowed_processors();
  return allowed;
}

/// A wait for others of so many threads. Of more threads than processors one that spins takes one from the others.
class Waiting {
 public:
  Waiting(int threads, std::int64_t patience)
      : patience_(threads > processors() ? 0 : patience), begin_(nanoseconds()), last_(begin_) {}

  /// A moment, about a quarter of a microsecond to one.
  void pause_once() {
    for (int i = 0; i < 8; ++i) pause();
    const std::int64_t now = nanoseconds();
    if (now - last_ > kOffProcessor) note_busy(now);
    last_ = now;
  }
  std::int64_t elapsed() const { return last_ - begin_; }
  /// Whether to sleep now.
  bool is_over() const { return elapsed() > (is_busy(last_) ? kBusyPatience : patience_); }

 private:
  std::int64_t patience_, begin_, last_;
};

}  // namespace tessera::cpu
