// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "waiting.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace tessera::cpu {
namespace {

/// So long processors are taken to be in demand after a thread of ours had to wait for one.
constexpr std::int64_t kMemory = 30'000'000;

constexpr std::int64_t kNap = 1'000'000;

std::atomic<std::int64_t> busy_until{0};
std::atomic<std::uint64_t> sleep_count{0};

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void wake(std::atomic<std::uint32_t>& word, int threads) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace

void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  sleep_count.fetch_add(1, std::memory_order_relaxed);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void nap() {
  const std::int64_t begin = nanoseconds();
  usleep(kNap / 1000);
  const std::int64_t end = nanoseconds();
  if (end - begin > kNap + kOffProcessor) note_busy(end);
}

void wake_one(std::atomic<std::uint32_t>& word) { wake(word, 1); }
void wake_all(std::atomic<std::uint32_t>& word) { wake(word, INT_MAX); }

std::uint64_t sleeps() { return sleep_count.load(std::memory_order_relaxed); }

void note_busy(std::int64_t now) { busy_until.store(now + kMemory, std::memory_order_relaxed); }
bool is_busy(std::int64_t now) { return now < busy_until.load(std::memory_order_relaxed); }

}  // namespace tessera::cpu
