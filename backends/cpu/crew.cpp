// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "crew.hpp"

#include "processors.hpp"
#include "waiting.hpp"

#include <tessera/plugin/floating_mode.hpp>

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <utility>

namespace tessera::cpu {
namespace {

/// Nanoseconds that a thread spins where processors are free: between executions, and between steps.
constexpr std::int64_t kExecutionPatience = 2'000'000, kStepPatience = 1'000'000;
/// Pauses before anything else. Threads that have a processor come within that time, as a rule.
constexpr int kFirstPauses = 64;
/// Naps after an execution, where processors are in demand, before a worker sleeps until it is woken.
constexpr int kNaps = 20;
/// So many executions do with fewer threads before more are asked for again.
constexpr int kPatience = 1000;

/// More threads than processors: those that spin take one from those that work.
bool is_crowded(int threads) {
  static const int processors = allowed_processors();
  return threads > processors;
}

}  // namespace

int Crew::gather(int size) {
  const int wanted = std::min(size, kMostThreads) - 1;
  if (wanted > workers_ && patience_-- == 0) {
    enlist(wanted - workers_);
    patience_ = wanted > workers_ ? kPatience : 0;
  }
  return std::min(wanted, workers_) + 1;
}

/// Adds so many workers, or fewer: as the system and the settings of OpenMP allow.
void Crew::enlist(int wanted) {
  Squad squad{this, workers_ + 1, creatable_threads(wanted)};
  if (squad.count == 0 || !start_thread(open_region, &squad)) return;
  int present = workers_;
  while ((present = present_.load(std::memory_order_acquire)) == workers_) sched_yield();
  while (arrived_.load(std::memory_order_acquire) < present) sched_yield();
  workers_ = present;
}

void* Crew::open_region(void* squad) {
  const Squad s = *static_cast<const Squad*>(squad);
#pragma omp parallel num_threads(s.count)
  s.crew->live(s.first_rank + omp_get_thread_num(), s.first_rank - 1 + omp_get_num_threads());
  return nullptr;
}

/// A worker's life.
void Crew::live(int rank, int present) {
  const plugin::DefaultMode mode;  // OpenMP may have given a thread that was the program's before
  std::uint64_t seen = end_.load(std::memory_order_acquire);
  present_.store(present, std::memory_order_release);
  arrived_.fetch_add(1, std::memory_order_release);
  for (;;) {
    wait_for_execution(rank, seen);
    seen = end_.load(std::memory_order_acquire);
    work(rank);
  }
}

std::int64_t Crew::run(int size, const Steps& steps) {
  if (steps.count <= 0) return 0;
  helped_ = 0;
  const std::uint64_t first = phase_.load(std::memory_order_relaxed);
  for (; current_ < size; ++current_) seats_[std::size_t(current_)].claimed.store(first, std::memory_order_relaxed);
  current_ = size;
  call_.store(steps.call, std::memory_order_relaxed);
  body_.store(steps.body, std::memory_order_relaxed);
  first_.store(first, std::memory_order_relaxed);
  size_.store(size, std::memory_order_release);
  end_.store(first + std::uint64_t(steps.count));
  if (asleep_.load() > 0) wake_workers(size);
  work(0);
  if (failed_.load(std::memory_order_relaxed)) {
    failed_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  return helped_;
}

void Crew::wake_workers(int size) {
  for (int rank = 1; rank < size; ++rank) {
    std::atomic<std::uint32_t>& asleep = seats_[std::size_t(rank)].asleep;
    if (asleep.load() != 0 && asleep.exchange(0) != 0) wake_one(asleep);
  }
}

/// Step by step, until the execution is over or has nothing left for this rank.
void Crew::work(int rank) {
  for (;;) {
    const std::uint64_t phase = phase_.load(std::memory_order_acquire), end = end_.load(std::memory_order_acquire);
    const int size = size_.load(std::memory_order_acquire);
    if (phase == end || rank >= size) return;
    take(phase, rank);
    const bool last = rank > 0 && phase + 1 == end;
    wait_for_step(phase, rank, size, last);
    if (last) return;
  }
}

/// Does a share of a step, if nobody has taken it and the step is the current one.
bool Crew::take(std::uint64_t phase, int share) {
  Seat& seat = seats_[std::size_t(share)];
  if (seat.claimed.load(std::memory_order_acquire) != phase) return false;
  const auto call = call_.load(std::memory_order_relaxed);
  void* const body = body_.load(std::memory_order_relaxed);
  const Team team{share, size_.load(std::memory_order_relaxed)};
  const auto step = std::int64_t(phase - first_.load(std::memory_order_relaxed));
  std::uint64_t expected = phase;
  if (!seat.claimed.compare_exchange_strong(expected, phase + 1, std::memory_order_acq_rel)) return false;
  seat.processor.store(sched_getcpu(), std::memory_order_relaxed);
  try {
    if (!failed_.load(std::memory_order_relaxed)) call(body, team, step);
  } catch (...) {
    // error_ is read when all shares are done.
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
  }
  seat.finished.store(phase + 1, std::memory_order_relaxed);
  if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 < team.size) return true;
  done_.store(0, std::memory_order_relaxed);
  phase_.store(phase + 1);
  if (sleepers_.load() > 0) {
    bell_.fetch_add(1);
    wake_all(bell_);
  }
  return true;
}

/// Takes a share whose thread has not come.
bool Crew::help(std::uint64_t phase, int rank, int size) {
  for (int r = 1; r < size; ++r)
    if (take(phase, (rank + r) % size)) {
      if (rank == 0) ++helped_;
      return true;
    }
  return false;
}

/// Whether a share under way is that of a thread of this processor, which cannot go on while this one spins.
bool Crew::waits_for_own_processor(std::uint64_t phase, int size) const {
  const int here = sched_getcpu();
  return std::any_of(seats_.begin(), seats_.begin() + size, [&](const Seat& seat) {
    return seat.claimed.load(std::memory_order_relaxed) == phase + 1 &&
           seat.finished.load(std::memory_order_relaxed) != phase + 1 &&
           seat.processor.load(std::memory_order_relaxed) == here;
  });
}

/// Until the others are done with a step; of the last one, until there is nothing left to take.
void Crew::wait_for_step(std::uint64_t phase, int rank, int size, bool last) {
  const auto over = [&] { return phase_.load(std::memory_order_acquire) != phase; };
  for (int i = 0; i < kFirstPauses; ++i) {
    if (over()) return;
    pause();
  }
  while (help(phase, rank, size))
    if (over()) return;
  if (last) return;
  Waiting waiting(is_crowded(size) ? 0 : kStepPatience);
  const bool hopeless = waits_for_own_processor(phase, size);
  while (!over()) {
    waiting.pause_once();
    if (hopeless || waiting.is_over()) sleep_until_after(phase);
  }
  waiting.pause_once();
  if (waiting.elapsed() > kStepPatience) note_busy(nanoseconds());
}

void Crew::sleep_until_after(std::uint64_t phase) {
  sleepers_.fetch_add(1);
  const std::uint32_t rung = bell_.load();
  if (phase_.load() == phase) sleep_on(bell_, rung);
  sleepers_.fetch_sub(1);
}

void Crew::wait_for_execution(int rank, std::uint64_t seen) {
  const auto called = [&] { return end_.load(std::memory_order_acquire) != seen; };
  for (Waiting waiting(is_crowded(rank + 1) ? 0 : kExecutionPatience); !waiting.is_over(); waiting.pause_once())
    if (called()) return;
  // Beside others a thread that is woken waits for its turn, which may come when the caller's is over: each of the two
  // then runs while the other does not. One that wakes by itself, at other times, falls out of that step.
  for (int naps = 0; naps < kNaps && !called() && is_busy(nanoseconds()); ++naps) nap();
  Seat& seat = seats_[std::size_t(rank)];
  while (!called()) {
    asleep_.fetch_add(1);
    seat.asleep.store(1);
    if (end_.load() == seen) sleep_on(seat.asleep, 1);
    seat.asleep.store(0);
    asleep_.fetch_sub(1);
  }
  leave_others_processors(rank, size_.load(std::memory_order_relaxed));
}

/// Schedulers may wake a thread on the processor of the one that woke it, where it waits for its turn though another
/// processor is as good, and leave it there for long.
void Crew::leave_others_processors(int rank, int size) {
  const auto processor_of = [&](int r) { return seats_[std::size_t(r)].processor.load(std::memory_order_relaxed); };
  const int here = sched_getcpu();
  bool shared = false;
  for (int r = 0; r < std::min(rank, size) && !shared; ++r) shared = processor_of(r) == here;
  cpu_set_t all, others;
  if (!shared || sched_getaffinity(0, sizeof all, &all) != 0) return;
  others = all;
  for (int r = 0; r < size; ++r)
    if (const int processor = processor_of(r); r != rank && processor >= 0) CPU_CLR(std::size_t(processor), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof all, &all);
  seats_[std::size_t(rank)].processor.store(sched_getcpu(), std::memory_order_relaxed);
}

}  // namespace tessera::cpu
