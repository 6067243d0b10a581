// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "workers.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace tessera::python {
namespace {

constexpr std::int64_t kPartsOfThread = 4;  // so that one that is late takes less

/// Work of one call. It lives on the caller's stack: a worker touches it between entering and leaving alone.
struct Job {
  const std::function<void(std::int64_t, std::int64_t)>& work;
  std::int64_t tasks, parts;
  std::fenv_t mode{};
  std::atomic<std::int64_t> next{0};
  int wanted = 0, inside = 0;    ///< of workers; under the mutex
  std::exception_ptr failure{};  ///< under the mutex

  void run(std::mutex& mutex) {
    for (std::int64_t part; (part = next.fetch_add(1)) < parts;) try {
        work(tasks * part / parts, tasks * (part + 1) / parts);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (failure == nullptr) failure = std::current_exception();
      }
  }
};

/// Never destroyed: its threads wait until the program ends.
class Workers {
 public:
  void run(Job& job) {
    std::unique_lock lock(mutex_);
    start(job.wanted);
    jobs_.push_back(&job);
    lock.unlock();
    wake_.notify_all();
    job.run(mutex_);
    lock.lock();
    if (const auto place = std::find(jobs_.begin(), jobs_.end(), &job); place != jobs_.end()) jobs_.erase(place);
    left_.wait(lock, [&] { return job.inside == 0; });
  }

 private:
  void start(int count) {
    for (; started_ < count; ++started_) try {
        std::thread([this] { serve(); }).detach();
      } catch (const std::system_error&) {
        return;  // no more threads: the caller does what is left
      }
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      Job& job = *jobs_.front();
      ++job.inside;
      if (--job.wanted == 0) jobs_.pop_front();
      lock.unlock();
      std::fesetenv(&job.mode);
      job.run(mutex_);
      lock.lock();
      if (--job.inside == 0) left_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, left_;
  std::deque<Job*> jobs_;  ///< that want workers
  int started_ = 0;
};

std::atomic<Workers*> workers{nullptr};

Workers& all_workers() {
  static const bool registered = [] {
    workers = new Workers;
    // The child of a fork has none of the threads, and the mutex may be held for ever.
    pthread_atfork(nullptr, nullptr, [] { workers = new Workers; });
    return true;
  }();
  static_cast<void>(registered);
  return *workers;
}

}  // namespace

void in_parallel(std::int64_t tasks, int threads, const std::function<void(std::int64_t, std::int64_t)>& work) {
  if (tasks == 0) return;
  const int count = int(std::min<std::int64_t>(std::max(threads, 1), tasks));
  if (count == 1) return work(0, tasks);
  Job job{.work = work, .tasks = tasks, .parts = std::min(tasks, count * kPartsOfThread)};
  job.wanted = count - 1;
  std::fegetenv(&job.mode);
  all_workers().run(job);
  if (job.failure != nullptr) std::rethrow_exception(job.failure);
}

}  // namespace tessera::python
