// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "parallel.hpp"

#include "crew.hpp"
#include "processors.hpp"
#include "threads.hpp"

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

bool run_in_crew(int threads, const Steps& steps) {
  const Lease lease(threads);
  if (lease.crew() == nullptr) return false;
  const int size = lease.crew()->gather(lease.size());
  if (size == 1) return false;
  lease.crew()->run(size, steps);
  return true;
}

/// A parallel region of the caller, whose threads are where the user has bound them.
bool run_in_region(int threads, const Steps& steps) {
  const int size = usable_threads(threads);
  if (size == 1) return false;
  std::exception_ptr error;
  std::atomic<bool> failed{false};
#pragma omp parallel num_threads(size)
  for (std::int64_t step = 0; step < steps.count; ++step) {
    // An exception that leaves the region would end the program.
    try {
      if (!failed) steps.call(steps.body, Team{omp_get_thread_num(), omp_get_num_threads()}, step);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
#pragma omp barrier
  }
  if (error) std::rethrow_exception(error);
  return true;
}

}  // namespace

bool run_shared(int threads, const Steps& steps) {
  if (omp_in_parallel() || threads_lost()) return false;
  threads = std::min({threads, kMostThreads, omp_get_thread_limit()});
  return omp_get_proc_bind() == omp_proc_bind_false ? run_in_crew(threads, steps) : run_in_region(threads, steps);
}

}  // namespace tessera::cpu
