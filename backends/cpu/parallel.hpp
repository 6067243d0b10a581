// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Work that threads share: the one way to it.
#pragma once

#include "threads.hpp"

#include <array>
#include <cstdint>
#include <type_traits>

namespace tessera::cpu {

/// One share of the work of a step.
struct Team {
  int rank;
  int size;  ///< how many shares

  /// First of `units` units of work of this share; the next share's first ends its range.
  std::int64_t begin(std::int64_t units) const { return share(units, rank); }
  std::int64_t end(std::int64_t units) const { return share(units, rank + 1); }

 private:
  /// Without units * r, which may overflow. Divisions are dear to a plan of one thread and few units.
  std::int64_t share(std::int64_t units, int r) const {
    return size == 1 ? units * r : units / size * r + units % size * r / size;
  }
};

/// Steps of shares: body(Team, step) for each step and each rank.
struct Steps {
  std::int64_t count;
  void (*call)(void* body, Team team, std::int64_t step);
  void* body;
};

/// As many threads as can be had share the steps; false where that is the caller alone, and nothing was done. Throws
/// what the first share to fail threw; no step begins after that.
bool run_shared(int threads, const Steps& steps);

/// Calls body(Team, step) for each share of each step, steps 0 to `steps` - 1. No step begins before all shares of the
/// one before it are done. A share is its own thread's as a rule. Another takes it where that thread is late: so no
/// result may depend on the thread, and a share may use what is set apart for its rank, but nothing of its thread.
/// There are `threads` shares, or one for each thread that there can be: one inside a parallel region of the caller,
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

/// Regions of OpenMP that others open have the program's threads, which may have set their floating-point modes. While
/// this lives so many threads of the calling one's regions compute in the default mode. Costs a region, and another one
/// where a thread had another mode.
class TeamInDefaultMode {
 public:
  explicit TeamInDefaultMode(int threads);
  ~TeamInDefaultMode();
  TeamInDefaultMode(const TeamInDefaultMode&) = delete;
  TeamInDefaultMode& operator=(const TeamInDefaultMode&) = delete;

 private:
  std::array<std::uint64_t, kMostThreads> before_;  ///< of each thread; not set where all had the default mode
  int threads_;
  bool changed_ = false;
};

}  // namespace tessera::cpu
