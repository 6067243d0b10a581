// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// An execution that opened a parallel region would wait at its end for each thread to enter and to leave it, and
/// OpenMP's threads spin for milliseconds before and after. So workers stay in a pool, nobody waits for one that has
/// not begun, and threads that wait sleep where spinning would take the processor from somebody.

#include "thread_pool.hpp"

#include "waiting.hpp"

#include <tessera/plugin/floating_mode.hpp>

#include <linux/futex.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace tessera::cpu {
namespace {

/// So many executions do with fewer workers before more are asked for again: asking creates threads, tens of
/// microseconds each, where the system has just refused some.
constexpr int kPatience = 1000;

/// A caller and its workers, who do one execution at a time. Never destroyed once it has workers.
///
/// `phase_` counts the steps of all executions. The task of rank r in the current step p is free while its slot's
/// `claimed` is p, and belongs to the thread that sets that to p + 1. Until it is done nobody writes the execution's
/// fields, and whoever read those of another execution fails to claim. So late threads may look at any time.
class ThreadPool {
 public:
  /// Has workers for `size` tasks, or as many as there can be; the caller does the first. Returns the number of tasks.
  int grow(int size) {
    const int wanted = std::min(size, kMostThreads) - 1;
    if (wanted > workers_ && patience_-- == 0) {
      // Workers stay for good. Where threads are limited, the pool takes half of what there can be, which
      // creatable_threads() finds out by creating them: OpenMP ends the process where none is left for a region.
      const int most = workers_ + creatable_threads(wanted - workers_);
      while (workers_ < most && start_thread(start_worker, this)) ++workers_;
      patience_ = wanted > workers_ ? kPatience : 0;
    }
    return std::min(wanted, workers_) + 1;
  }

  /// All steps, each of `size` tasks, at most what grow() returned. Returns what a task threw.
  std::exception_ptr run(int size, const Steps& steps) {
    taken_over = 0;
    const std::uint64_t first = phase_.load(std::memory_order_relaxed);
    for (; current_ < size; ++current_) slots_[current_].claimed.store(first, std::memory_order_relaxed);
    current_ = size;
    call_.store(steps.call, std::memory_order_relaxed);
    body_.store(steps.body, std::memory_order_relaxed);
    first_.store(first, std::memory_order_relaxed);
    size_.store(size, std::memory_order_release);
    end_.store(first + std::uint64_t(steps.count));
    for (int rank = 1; rank < size && idle_sleepers_.load() > 0; ++rank)
      if (Word& asleep = slots_[rank].asleep; asleep.load() != 0 && asleep.exchange(0) != 0)
        futex(asleep, FUTEX_WAKE_PRIVATE, 1);
    work(0);
    failed_.store(false, std::memory_order_relaxed);
    return std::exchange(error_, nullptr);
  }

  std::int64_t taken_over = 0;      ///< tasks of workers that the caller did, in the last execution
  ThreadPool* next_idle = nullptr;  ///< of a list

 private:
  /// A task's, and a worker's.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> claimed{0}, finished{0};
    std::atomic<int> processor{-1};  ///< that its task was begun on
    Word asleep{0};                  ///< its worker, between executions
  };

  static void* start_worker(void* pool) {
    auto& self = *static_cast<ThreadPool*>(pool);
    const plugin::DefaultMode mode;  // a thread is born with its starter's
    const int rank = ++self.started_;
    for (std::uint64_t seen = 0;;) {
      self.wait_for_execution(rank, seen);
      seen = self.end_.load(std::memory_order_acquire);
      self.work(rank);
    }
  }

  /// Step by step, until the execution is over or has nothing left for this rank.
  void work(int rank) {
    for (;;) {
      const std::uint64_t phase = phase_.load(std::memory_order_acquire), end = end_.load(std::memory_order_acquire);
      const int size = size_.load(std::memory_order_acquire);
      if (phase == end || rank >= size) return;
      take(phase, rank);
      const bool last = rank > 0 && phase + 1 == end;
      wait_at_barrier(phase, rank, size, last);
      if (last) return;
    }
  }

  /// Does a task of a step, if nobody has taken it and the step is the current one.
  bool take(std::uint64_t phase, int task) {
    Slot& slot = slots_[task];
    if (slot.claimed.load(std::memory_order_acquire) != phase) return false;
    const auto call = call_.load(std::memory_order_relaxed);
    void* const body = body_.load(std::memory_order_relaxed);
    const Team team{task, size_.load(std::memory_order_relaxed)};
    const auto step = std::int64_t(phase - first_.load(std::memory_order_relaxed));
    std::uint64_t expected = phase;
    if (!slot.claimed.compare_exchange_strong(expected, phase + 1, std::memory_order_acq_rel)) return false;
    slot.processor.store(sched_getcpu(), std::memory_order_relaxed);
    try {
      if (!failed_.load(std::memory_order_relaxed)) call(body, team, step);
    } catch (...) {
      // error_ is read when all tasks are done.
      if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    }
    slot.finished.store(phase + 1, std::memory_order_relaxed);
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 < team.size) return true;
    done_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1);
    if (barrier_sleepers_.load() > 0) {
      wake_ups_.fetch_add(1);
      futex(wake_ups_, FUTEX_WAKE_PRIVATE, kMostThreads);
    }
    return true;
  }

  /// Takes a task whose thread has not come.
  bool help(std::uint64_t phase, int rank, int size) {
    for (int r = 1; r < size; ++r)
      if (take(phase, (rank + r) % size)) {
        if (rank == 0) ++taken_over;
        return true;
      }
    return false;
  }

  /// Whether a task under way is that of a thread of this processor, which cannot go on while this one spins.
  bool waits_for_own_processor(std::uint64_t phase, int size) const {
    const int here = sched_getcpu();
    return std::any_of(slots_, slots_ + size, [&](const Slot& slot) {
      return slot.claimed.load(std::memory_order_relaxed) == phase + 1 &&
             slot.finished.load(std::memory_order_relaxed) != phase + 1 &&
             slot.processor.load(std::memory_order_relaxed) == here;
    });
  }

  /// Until the others are done with a step; of the last one, until there is nothing left to take.
  void wait_at_barrier(std::uint64_t phase, int rank, int size, bool last) {
    const auto is_open = [&] { return phase_.load(std::memory_order_acquire) != phase; };
    for (int i = 0; i < kFirstPauses; ++i) {
      if (is_open()) return;
      pause();
    }
    while (help(phase, rank, size))
      if (is_open()) return;
    if (last) return;
    Waiting waiting(size, kStepPatience);
    const bool hopeless = waits_for_own_processor(phase, size);
    while (!is_open()) {
      waiting.pause_once();
      if (!hopeless && !waiting.is_over()) continue;
      barrier_sleepers_.fetch_add(1);
      const std::uint32_t before = wake_ups_.load();
      if (phase_.load() == phase) futex(wake_ups_, FUTEX_WAIT_PRIVATE, before);
      barrier_sleepers_.fetch_sub(1);
    }
    waiting.pause_once();
    if (waiting.elapsed() > kStepPatience) note_busy(nanoseconds());
  }

  void wait_for_execution(int rank, std::uint64_t seen) {
    const auto is_there = [&] { return end_.load(std::memory_order_acquire) != seen; };
    for (Waiting waiting(rank + 1, kExecutionPatience); !waiting.is_over(); waiting.pause_once())
      if (is_there()) return;
    // Among others a thread that is woken waits for its turn, which may come when the caller's is over: each of the two
    // then runs while the other does not. One that wakes by itself, at other times, falls out of that step.
    for (int naps = 0; naps < kNaps && !is_there() && is_busy(nanoseconds()); ++naps) {
      const std::int64_t begin = nanoseconds();
      usleep(kNap / 1000);
      if (const std::int64_t end = nanoseconds(); end - begin > kNap + kOffProcessor) note_busy(end);
    }
    Word& asleep = slots_[rank].asleep;
    while (!is_there()) {
      idle_sleepers_.fetch_add(1);
      asleep.store(1);
      if (end_.load() == seen) futex(asleep, FUTEX_WAIT_PRIVATE, 1);
      asleep.store(0);
      idle_sleepers_.fetch_sub(1);
    }
    leave_others_processors(rank, size_.load(std::memory_order_relaxed));
  }

  /// Schedulers may wake a thread on the processor of the one that woke it, where it waits for its turn though another
  /// processor is as good, and leave it there for long.
  void leave_others_processors(int rank, int size) {
    const auto processor_of = [&](int r) { return slots_[r].processor.load(std::memory_order_relaxed); };
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
    slots_[rank].processor.store(sched_getcpu(), std::memory_order_relaxed);
  }

  Slot slots_[kMostThreads];
  int workers_ = 0;              ///< that there are
  int patience_ = 0;             ///< executions until more are asked for again
  int current_ = 0;              ///< slots whose `claimed` has followed the phase
  std::atomic<int> started_{0};  ///< workers that have a rank

  // Of the current execution.
  std::atomic<decltype(Steps::call)> call_{nullptr};
  std::atomic<void*> body_{nullptr};
  std::atomic<std::uint64_t> first_{0};
  std::atomic<int> size_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  alignas(64) std::atomic<std::uint64_t> end_{0};  ///< the phase that ends it
  std::atomic<int> idle_sleepers_{0};              ///< workers asleep between executions
  alignas(64) std::atomic<std::uint64_t> phase_{0};
  std::atomic<int> barrier_sleepers_{0};
  Word wake_ups_{0};                      ///< of those
  alignas(64) std::atomic<int> done_{0};  ///< tasks of the current step
};

/// Taken before what it guards, and never destroyed: plans may outlive static objects.
constinit std::mutex mutex;
ThreadPool* idle = nullptr;  ///< the first of those that nobody uses
int at_work = 0;             ///< threads of all pools' executions

/// A pool that nobody else uses meanwhile, and of `threads` as many as other executions leave processors; null where
/// that is the caller alone, and where memory has ended.
ThreadPool* take_pool(int& threads) {
  const std::lock_guard lock(mutex);
  if (at_work > 0) threads = std::clamp(processors() - at_work, 1, threads);
  if (threads == 1) return nullptr;
  ThreadPool* const pool = idle != nullptr ? idle : new (std::nothrow) ThreadPool;
  if (pool == nullptr) return nullptr;
  idle = pool->next_idle;
  at_work += threads;
  return pool;
}

void give_back(ThreadPool* pool, int threads) {
  const std::lock_guard lock(mutex);
  at_work -= threads;
  pool->next_idle = std::exchange(idle, pool);
}

/// Whether a calling thread takes a region of OpenMP in place of a pool. Where the program has regions of its own,
/// OpenMP's threads spin after each of them on the processors that the workers need, and a region of the caller, whose
/// threads are those, is better. It is tried where workers come late time after time, until too much time is lost in
/// it.
class RegionTrial {
 public:
  bool is_on() {
    if (!on_ && late_ >= kLate && nanoseconds() >= not_before_) {
      on_ = true;
      credit_ = kCredit;
      since_ = nanoseconds();
    }
    return on_;
  }
  /// Workers have come late to an execution, or have not.
  void count_late(bool late) { late_ = late ? late_ + 1 : 0; }
  /// The caller has waited so long in a region beyond what is fair.
  void count_lost(std::int64_t time) {
    credit_ = time == 0 ? std::min(credit_ + kEarned, kCredit) : credit_ - time;
    if (credit_ < 0) end();
  }
  void end() {
    on_ = false;
    late_ = 0;
    const std::int64_t now = nanoseconds();
    pause_ = now - since_ > kLasting ? kFirstPause : std::min(2 * pause_, kLongestPause);
    not_before_ = now + pause_;
  }

 private:
  static constexpr int kLate = 8;  ///< executions one after another
  /// What may be lost, and what an execution without loss makes up for. The first ones of a trial lose some, while the
  /// workers still spin.
  static constexpr std::int64_t kCredit = 8'000'000, kEarned = 20'000;
  /// Until the next trial, twice as long after each, unless regions went well for some time.
  static constexpr std::int64_t kFirstPause = 50'000'000, kLongestPause = 5'000'000'000, kLasting = 500'000'000;

  bool on_ = false;
  int late_ = 0;
  std::int64_t credit_ = 0, since_ = 0, not_before_ = 0, pause_ = kFirstPause / 2;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local RegionTrial region_trial;

/// False where nothing was done.
bool run_in_pool(int threads, const Steps& steps) {
  ThreadPool* const pool = take_pool(threads);
  if (pool == nullptr) return false;
  const int size = pool->grow(threads);
  std::exception_ptr error;
  if (size > 1) {
    constexpr std::int64_t kTelling = 20'000;  // what is over sooner says nothing of the workers
    const std::int64_t begin = nanoseconds();
    error = pool->run(size, steps);
    region_trial.count_late(2 * pool->taken_over >= steps.count * (size - 1) && nanoseconds() - begin >= kTelling);
  }
  give_back(pool, threads);
  if (error) std::rethrow_exception(error);
  return size > 1;
}

}  // namespace

bool run_shared(int threads, const Steps& steps) {
  if (omp_in_parallel() || threads_lost()) return false;
  threads = std::min({threads, kMostThreads, omp_get_thread_limit()});
  if (omp_get_proc_bind() != omp_proc_bind_false) return run_in_region(threads, steps).has_value();
  if (region_trial.is_on()) {
    if (const auto lost = run_in_region(threads, steps)) {
      region_trial.count_lost(*lost);
      return true;
    }
    region_trial.end();  // no thread can be had for one, but the pool's are there
  }
  return run_in_pool(threads, steps);
}

}  // namespace tessera::cpu
