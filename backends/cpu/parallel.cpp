// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "parallel.hpp"

#include "crew.hpp"
#include "processors.hpp"
#include "threads.hpp"
#include "waiting.hpp"

#include <tessera/plugin/floating_mode.hpp>

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>

namespace tessera::cpu {
namespace {

/// Taken before what it guards, and never destroyed: plans may outlive static objects.
constinit std::mutex mutex;
Crew* idle = nullptr;  ///< the first of those that nobody uses
int at_work = 0;       ///< threads of all crews' executions

/// A crew that nobody else uses meanwhile, and the processors that other executions leave it.
class Lease {
 public:
  /// Finds null where memory has ended.
  explicit Lease(int threads) {
    static const int processors = allowed_processors();
    const std::lock_guard lock(mutex);
    size_ = at_work == 0 ? threads : std::clamp(processors - at_work, 1, threads);
    if (size_ == 1) return;
    crew_ = idle != nullptr ? idle : new (std::nothrow) Crew;
    if (crew_ == nullptr) return;
    idle = crew_->next_idle;
    at_work += size_;
  }
  ~Lease() {
    if (crew_ == nullptr) return;
    const std::lock_guard lock(mutex);
    at_work -= size_;
    crew_->next_idle = idle;
    idle = crew_;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Crew* crew() const { return crew_; }
  int size() const { return size_; }

 private:
  Crew* crew_ = nullptr;
  int size_ = 1;
};

/// How an execution went, to the caller.
struct Outcome {
  bool shared = false;    ///< false: nothing was done
  bool late = false;      ///< of a crew: the caller did most of what was the workers'
  std::int64_t lost = 0;  ///< of a region: nanoseconds of waiting beyond what is fair
};

/// A crew's execution that is over sooner says nothing of its workers.
constexpr std::int64_t kTelling = 20'000;
/// What the caller may wait at the end of a region's step: so long, or a quarter of its work.
constexpr std::int64_t kFairWait = 30'000;

Outcome run_in_crew(int threads, const Steps& steps) {
  const Lease lease(threads);
  if (lease.crew() == nullptr) return {};
  const int size = lease.crew()->gather(lease.size());
  if (size == 1) return {};
  const std::int64_t begin = nanoseconds();
  const std::int64_t helped = lease.crew()->run(size, steps);
  const bool late = 2 * helped >= steps.count * (size - 1);
  return {true, late && nanoseconds() - begin >= kTelling};
}

/// A parallel region of the caller, whose threads are where the user has bound them.
Outcome run_in_region(int threads, const Steps& steps) {
  const int size = usable_threads(threads);
  if (size == 1) return {};
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  const std::int64_t begin = nanoseconds();
  std::int64_t waited = 0;  // by the caller
#pragma omp parallel num_threads(size)
  {
    const plugin::DefaultMode mode;  // these threads are the program's as well, which may have set theirs
    for (std::int64_t step = 0; step < steps.count; ++step) {
      // An exception that leaves the region would end the program.
      try {
        if (!failed) steps.call(steps.body, Team{omp_get_thread_num(), omp_get_num_threads()}, step);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
      const bool caller = omp_get_thread_num() == 0;
      const std::int64_t done = caller ? nanoseconds() : 0;
#pragma omp barrier
      if (caller) waited += nanoseconds() - done;
    }
  }
  if (error) std::rethrow_exception(error);
  const std::int64_t working = nanoseconds() - begin - waited;
  return {true, false, std::max<std::int64_t>(waited - steps.count * kFairWait - working / 4, 0)};
}

/// Which way a calling thread takes. A crew waits for nobody who is late; but where the program has parallel regions of
/// its own, OpenMP's threads spin after each of them on the processors that the crew's workers need, and the other way
/// round. Then a region of the caller, whose threads are those, is better. It shows in how executions go: where the
/// crew's workers come late time after time a region is tried, and taken until too much time is lost in it.
class Habit {
 public:
  bool takes_region() {
    if (!in_region_ && late_ >= kLate && nanoseconds() >= not_before_) begin_region();
    return in_region_;
  }

  void crew_was(bool late) { late_ = late ? late_ + 1 : 0; }

  void region_lost(std::int64_t lost) {
    credit_ = lost == 0 ? std::min(credit_ + kEarned, kCredit) : credit_ - lost;
    if (credit_ < 0) leave_region();
  }
  void leave_region() {
    in_region_ = false;
    late_ = 0;
    const std::int64_t now = nanoseconds();
    pause_ = now - since_ > kLasting ? kFirstPause : std::min(2 * pause_, kLongestPause);
    not_before_ = now + pause_;
  }

 private:
  static constexpr int kLate = 8;  ///< executions one after another
  /// Nanoseconds that may be lost, and what an execution without loss makes up for. The first ones of a trial lose
  /// some, while the crew's workers still spin.
  static constexpr std::int64_t kCredit = 8'000'000, kEarned = 20'000;
  /// Nanoseconds until the next trial, twice as many after each, unless regions went well for some time.
  static constexpr std::int64_t kFirstPause = 50'000'000, kLongestPause = 5'000'000'000, kLasting = 500'000'000;

  void begin_region() {
    in_region_ = true;
    credit_ = kCredit;
    since_ = nanoseconds();
  }

  bool in_region_ = false;
  int late_ = 0;
  std::int64_t credit_ = 0, since_ = 0, not_before_ = 0, pause_ = kFirstPause / 2;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local Habit habit;

bool run_by_habit(int threads, const Steps& steps) {
  if (habit.takes_region()) {
    if (const Outcome outcome = run_in_region(threads, steps); outcome.shared) {
      habit.region_lost(outcome.lost);
      return true;
    }
    habit.leave_region();  // no thread can be had for one, but the crew's are there
  }
  const Outcome outcome = run_in_crew(threads, steps);
  habit.crew_was(outcome.late);
  return outcome.shared;
}

}  // namespace

bool run_shared(int threads, const Steps& steps) {
  if (omp_in_parallel() || threads_lost()) return false;
  threads = std::min({threads, kMostThreads, omp_get_thread_limit()});
  if (omp_get_proc_bind() != omp_proc_bind_false) return run_in_region(threads, steps).shared;
  return run_by_habit(threads, steps);
}

TeamInDefaultMode::TeamInDefaultMode(int threads) : threads_(threads) {
  if (threads == 1) return;  // the calling thread, which is in it
  std::atomic<bool> changed{false};
#pragma omp parallel num_threads(threads)
  {
    before_[std::size_t(omp_get_thread_num())] = plugin::control_word();
    if (!plugin::in_default_mode()) {
      plugin::set_control_word(plugin::kDefaultMode);
      changed = true;
    }
  }
  changed_ = changed;
}

TeamInDefaultMode::~TeamInDefaultMode() {
  if (!changed_) return;
#pragma omp parallel num_threads(threads_)
  plugin::set_control_word(before_[std::size_t(omp_get_thread_num())]);
}

}  // namespace tessera::cpu
