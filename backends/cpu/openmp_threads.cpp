// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What OpenMP does not know of its threads: that they cannot be created, or were lost in a fork.

#include "thread_pool.hpp"

#include <tessera/plugin/error.hpp>
#include <tessera/plugin/floating_mode.hpp>

#include <omp.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <mutex>

namespace tessera::cpu {
namespace {

/// So many executions do with fewer threads before they are asked for again.
constexpr int kPatience = 1000;

// What is each thread's own lies in its static block: taken when the thread first looks, it would end the program where
// memory has ended.
/// The largest team that the calling thread has been found able to gather. OpenMP keeps threads for each thread that
/// opens regions.
[[gnu::tls_model("initial-exec")]] constinit thread_local int proven_threads = 1;
[[gnu::tls_model("initial-exec")]] constinit thread_local int patience = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool alone_before_fork = false;

bool lost = false;            ///< written by a child's only thread
std::size_t stack_bytes = 0;  ///< of OpenMP's threads; 0: the system's default

/// Of this process, as the kernel counts them; 0 where it does not tell.
std::uint64_t count_threads() {
  struct stat task {};
  return stat("/proc/self/task", &task) == 0 && task.st_nlink > 2 ? std::uint64_t(task.st_nlink) - 2 : 0;
}

void before_fork() { alone_before_fork = count_threads() == 1; }
void in_child() {
  if (alone_before_fork) return;
  lost = true;
  proven_threads = 1;
}

/// "512", "8M", "64 k": KiB where there is no unit. 0 where it is not a size.
std::size_t parse_stack_size(const char* text) {
  if (text == nullptr) return 0;
  char* unit = nullptr;
  const std::size_t value = std::strtoull(text, &unit, 10);
  while (std::isspace(static_cast<unsigned char>(*unit)) != 0) ++unit;
  const int letter = *unit == '\0' ? 'k' : std::tolower(static_cast<unsigned char>(*unit));
  const int shift = letter == 'b' ? 0 : letter == 'k' ? 10 : letter == 'm' ? 20 : letter == 'g' ? 30 : -1;
  return shift < 0 || value > SIZE_MAX >> shift ? 0 : value << shift;
}

/// As OpenMP does.
bool create_thread(pthread_t& thread, void* (*routine)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  const int error = pthread_create(&thread, &attributes, routine, argument);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

void* wait_at(void* gate) {
  const std::lock_guard wait(*static_cast<std::mutex*>(gate));
  return nullptr;
}

/// Creates `count` threads, or as many as there can be at once, and ends them. Returns how many.
int try_threads(int count) {
  pthread_t threads[kMostThreads];
  const std::uint64_t before = count_threads();
  std::mutex gate;
  gate.lock();
  int started = 0;
  while (started < count && create_thread(threads[started], wait_at, &gate)) ++started;
  gate.unlock();
  for (int t = 0; t < started; ++t) pthread_join(threads[t], nullptr);
  // The kernel counts a thread, also against limits, a little longer than pthread_join() waits for it.
  constexpr int kTries = 200;
  for (int tries = 0; count_threads() > before && tries < kTries; ++tries) usleep(50);
  return started;
}

}  // namespace

void watch_forks() {
  static const int error = [] {
    const char* const size = std::getenv("OMP_STACKSIZE");
    stack_bytes = parse_stack_size(size != nullptr ? size : std::getenv("GOMP_STACKSIZE"));
    return pthread_atfork(before_fork, nullptr, in_child);
  }();
  if (error != 0) throw plugin::Error(TESSERA_OUT_OF_MEMORY, "host memory is exhausted");
}

bool threads_lost() { return lost; }

int usable_threads(int wanted) {
  if (wanted <= proven_threads) return wanted;
  if (lost) return 1;
  if (patience > 0) {
    --patience;
    return proven_threads;
  }
  const int team = std::min(wanted, kMostThreads), found = 1 + creatable_threads(team - 1);
  if (found < team) patience = kPatience;
  return proven_threads = std::max(proven_threads, found);
}

int creatable_threads(int count) {
  // Half of what there can be leaves room for those who create threads at the same time.
  for (int started; (started = try_threads(count)) < count;) count = started / 2;
  return count;
}

bool start_thread(void* (*routine)(void*), void* argument) {
  pthread_t thread;
  return create_thread(thread, routine, argument) && pthread_detach(thread) == 0;
}

std::optional<std::int64_t> run_in_region(int threads, const Steps& steps) {
  const int size = usable_threads(threads);
  if (size == 1) return std::nullopt;
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  const double begin = omp_get_wtime();
  double waited = 0;  // by the caller
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
      const double done = caller ? omp_get_wtime() : 0;
#pragma omp barrier
      if (caller) waited += omp_get_wtime() - done;
    }
  }
  if (error) std::rethrow_exception(error);
  constexpr double kFairWait = 30e-6;  // at the end of a step, or a quarter of the work
  const double working = omp_get_wtime() - begin - waited;
  return std::int64_t(1e9 * std::max(waited - double(steps.count) * kFairWait - working / 4, 0.0));
}

}  // namespace tessera::cpu
