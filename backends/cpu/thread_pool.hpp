// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How threads share work, and how many there may be. thread_pool.cpp has workers of its own, openmp_threads.cpp sees
/// to those of OpenMP.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

namespace tessera::cpu {

/// Most threads of a plan.
inline constexpr int kMostThreads = 1024;

/// To be called before anything else here: from then on forks are noticed. Throws where that is impossible.
void watch_forks();
/// Whether this process was forked from one that had more threads than the one that forked it.
bool threads_lost();

/// How many of `wanted` threads, at most kMostThreads, a parallel region of OpenMP of the calling thread may have,
/// itself among them. As many as wanted but where threads cannot be created, and 1 where they were lost: OpenMP ends
/// the process where it cannot create one, and waits for ever for those that a fork has left behind.
int usable_threads(int wanted);
/// How many threads, at most `count`, can be created beside those that there are. Looks by creating them.
int creatable_threads(int count);
/// Starts a thread with a stack like OpenMP's, which nobody joins. False where the system refuses.
bool start_thread(void* (*routine)(void*), void* argument);

/// One task of a step: a share of its work.
struct Team {
  int rank;
  int size;  ///< tasks of the step

  /// First of `units` units of work of this task; the next task's first ends its range.
  std::int64_t begin(std::int64_t units) const { return share(units, rank); }
  std::int64_t end(std::int64_t units) const { return share(units, rank + 1); }

 private:
  /// Without units * r, which may overflow. Divisions are dear to a plan of one thread and few units.
  std::int64_t share(std::int64_t units, int r) const {
    return size == 1 ? units * r : units / size * r + units % size * r / size;
  }
};

/// What an execution does: body(Team, step) for each step and each rank.
struct Steps {
  std::int64_t count;
  void (*call)(void* body, Team team, std::int64_t step);
  void* body;
};

/// As many threads as can be had share the steps; false where that is the caller alone, and nothing was done. Throws
/// what the first task to fail threw; no step begins after that.
bool run_shared(int threads, const Steps& steps);

/// The same in a parallel region of the caller, whose threads are where the user has bound them. The result:
/// nanoseconds that the caller has waited at barriers beyond what is fair; nothing where nothing was done.
std::optional<std::int64_t> run_in_region(int threads, const Steps& steps);

/// Calls body(Team, step) for each task of each step, steps 0 to `steps` - 1, with a barrier between steps. A task is
/// its own thread's as a rule. Another takes it where that thread is late: so no result may depend on the thread, and a
/// task may use what is set apart for its rank, but nothing of its thread.
/// There are `threads` tasks, or one for each thread that there can be: one inside a parallel region of the caller,
/// and in a forked child. Results must therefore not depend on Team::size. OpenMP's settings stay as the caller has
/// them.
template <class Body>
void run_steps(int threads, std::int64_t steps, Body&& body) {
  if (threads > 1) {
    using Called = std::remove_reference_t<Body>;
    const auto call = [](void* b, Team team, std::int64_t step) { (*static_cast<Called*>(b))(team, step); };
    if (run_shared(threads, {steps, call, const_cast<void*>(static_cast<const void*>(&body))})) return;
  }
  for (std::int64_t step = 0; step < steps; ++step) body(Team{0, 1}, step);
}

/// One step: body(Team).
template <class Body>
void run_team(int threads, Body&& body) {
  run_steps(threads, 1, [&](Team team, std::int64_t) { body(team); });
}

}  // namespace tessera::cpu
