// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How threads wait for each other: they spin, and sleep where that would take the processor from somebody.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tessera::cpu {

/// Seconds and such on the steady clock, in nanoseconds.
inline std::int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Tells the processor that this is a loop that waits.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Sleeps until woken, unless `word` has another value than `value` by then. May return for no reason.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes one of those who sleep on `word`, or all.
void wake_one(std::atomic<std::uint32_t>& word);
void wake_all(std::atomic<std::uint32_t>& word);

/// Sleeps for about a millisecond. Whoever wakes too late had to wait for a processor.
void nap();

/// How often a thread of this process has gone to sleep: for tests.
std::uint64_t sleeps();

/// Remembers for a while that threads of ours had to wait for a processor.
void note_busy(std::int64_t now);
bool is_busy(std::int64_t now);

/// A delay that only a thread without a processor explains. A scheduler's slice takes milliseconds.
inline constexpr std::int64_t kOffProcessor = 200'000;

/// Someone's time in a loop that waits.
class Waiting {
 public:
  explicit Waiting(std::int64_t patience) : patience_(patience), begin_(nanoseconds()), last_(begin_) {}

  /// A moment, about a quarter of a microsecond to one.
  void pause_once() {
    for (int i = 0; i < kPauses; ++i) pause();
    const std::int64_t now = nanoseconds();
    if (now - last_ > kOffProcessor) note_busy(now);
    last_ = now;
  }
  std::int64_t elapsed() const { return last_ - begin_; }
  /// Whether to sleep now.
  bool is_over() const { return elapsed() > (is_busy(last_) ? kBusyPatience : patience_); }

 private:
  static constexpr int kPauses = 8;
  /// Beside others: what it takes to sleep and to be woken.
  static constexpr std::int64_t kBusyPatience = 50'000;

  std::int64_t patience_, begin_, last_;
};

}  // namespace tessera::cpu
