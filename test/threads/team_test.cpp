// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// How the CPU backend's threads share work, and wait for each other.

#include "floating_modes.hpp"
#include "thread_pool.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

using tessera::cpu::run_steps;
using tessera::cpu::run_team;
using tessera::cpu::Team;

namespace {

pid_t this_thread() { return pid_t(syscall(SYS_gettid)); }

/// The kernel's letter for what a thread does: R where it runs or could, S where it sleeps.
char state_of(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(stat, text);
  return text.at(text.rfind(')') + 2);
}

/// Waits for that, for some seconds.
bool falls_asleep(pid_t thread) {
  for (int tries = 0; tries < 10000 && state_of(thread) != 'S'; ++tries) usleep(1000);
  return state_of(thread) == 'S';
}

sem_t halted, released, gone;

void halt(int) {
  sem_post(&halted);
  while (sem_wait(&released) != 0) {
  }
  sem_post(&gone);
}

/// Holds all threads of this process but the caller's, wherever they are, as a scheduler does that runs others.
class OthersHalted {
 public:
  OthersHalted() {
    sem_init(&halted, 0, 0), sem_init(&released, 0, 0), sem_init(&gone, 0, 0);
    struct sigaction action {};
    action.sa_handler = halt;
    sigaction(SIGUSR1, &action, nullptr);
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      const pid_t thread = pid_t(std::stol(task.path().filename()));
      if (thread != this_thread() && syscall(SYS_tgkill, getpid(), thread, SIGUSR1) == 0) ++count_;
    }
    for (int i = 0; i < count_; ++i)
      while (sem_wait(&halted) != 0) {
      }
  }
  ~OthersHalted() {
    for (int i = 0; i < count_; ++i) sem_post(&released);
    for (int i = 0; i < count_; ++i)
      while (sem_wait(&gone) != 0) {
      }
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

}  // namespace

TEST_CASE("every item of work is done by one thread") {
  for (const int threads : {1, 2, 3, 8, tessera::cpu::kMostThreads}) {
    std::vector<std::atomic<int>> done(5000);
    run_team(threads, [&](Team team) {
      for (std::int64_t i = team.begin(5000); i < team.end(5000); ++i) ++done[std::size_t(i)];
    });
    for (const auto& times : done) REQUIRE(times == 1);
  }
}

TEST_CASE("a step begins when all tasks of the one before it are done") {
  constexpr int kSteps = 2000, kCells = 60;
  for (const int threads : {1, 2, 3, 7, 5, 2}) {
    std::vector<std::vector<std::int64_t>> cells(2, std::vector<std::int64_t>(kCells));
    run_steps(threads, kSteps, [&](Team team, std::int64_t step) {
      const auto& from = cells[std::size_t(step % 2)];
      auto& to = cells[std::size_t((step + 1) % 2)];
      for (auto i = std::size_t(team.begin(kCells)); i < std::size_t(team.end(kCells)); ++i)
        to[i] = (from[(i + 1) % kCells] + from[(i + kCells - 1) % kCells]) / 2 + 1;
    });
    for (const std::int64_t cell : cells[0]) REQUIRE(cell == kSteps);
  }
}

TEST_CASE("executions of several threads at the same time keep apart") {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        std::int64_t sums[4] = {};
        run_steps(2 + caller % 3, 10, [&](Team team, std::int64_t step) {
          for (std::int64_t i = team.begin(4); i < team.end(4); ++i) sums[i] += step * (caller + 1);
        });
        for (const std::int64_t sum : sums) wrong += sum != 45 * (caller + 1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  REQUIRE(wrong == 0);
}

TEST_CASE("others compute in the default floating-point mode, whatever their starter's is, who keeps his") {
  using tessera::test::floating_mode;
  const std::uint64_t by_default = floating_mode();
  int others = 0, changed = 0;
  std::thread starter([&] {  // whose habits are its own
    for (const tessera::test::FloatingMode& mode : tessera::test::floating_modes())
      for (const int threads : {2, 3, 9}) {
        mode.set();
        const std::uint64_t own = floating_mode();
        const pid_t caller = this_thread();
        std::atomic<int> wrong{0};
        run_steps(threads, 20, [&](Team, std::int64_t) {
          if (this_thread() != caller && floating_mode() != by_default) ++wrong;
        });
        others += wrong;
        changed += floating_mode() != own;
      }
  });
  starter.join();
  CHECK(others == 0);
  CHECK(changed == 0);
}

TEST_CASE("an exception of any type leaves the threads' work behind it") {
  for (int thrower = 0; thrower < 4; ++thrower)
    REQUIRE_THROWS_AS(run_team(4,
                               [&](Team team) {
                                 if (team.rank == thrower % team.size) throw std::length_error("of a row");
                               }),
                      std::length_error);
  REQUIRE_THROWS_AS(run_team(4, [](Team) { throw std::bad_alloc(); }), std::bad_alloc);
  REQUIRE_THROWS_AS(run_team(4, [](Team team) { throw team.rank; }), int);
  std::atomic<int> begun{0};
  REQUIRE_THROWS_AS(run_steps(4, 5,
                              [&](Team, std::int64_t step) {
                                ++begun;
                                if (step == 1) throw std::length_error("of a step");
                              }),
                    std::length_error);
  REQUIRE(begun <= 8);
}

TEST_CASE("nobody waits for a thread that has not begun", "[pool][halted]") {
  const auto count_shares = [](std::int64_t steps) {
    std::atomic<int> shares{0};
    run_steps(3, steps, [&](Team, std::int64_t) { ++shares; });
    return shares.load();
  };
  REQUIRE(count_shares(1) == 3);
  const OthersHalted others;
  REQUIRE(others.count() >= 2);
  // These would never end.
  REQUIRE(count_shares(1) == 3);
  REQUIRE(count_shares(50) == 150);
}

TEST_CASE("where a pool's workers are late time after time, OpenMP's threads of the caller do their tasks",
          "[pool][halted]") {
  // As long as tells something of the workers.
  const auto others_shares = [] {
    const pid_t caller = this_thread();
    std::atomic<int> others{0};
    run_team(2, [&](Team) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      while (std::chrono::steady_clock::now() < end) {
      }
      if (this_thread() != caller) ++others;
    });
    return others.load();
  };
  int done_late = 0, done_then = 0;
  std::thread caller([&] {  // whose habits are its own
    others_shares();        // there are workers now, which may have been late
    const OthersHalted halted_workers;
    for (int execution = 0; execution < 7; ++execution) done_late += others_shares();
    for (int execution = 0; execution < 5; ++execution) done_then += others_shares();
  });
  caller.join();
  REQUIRE(done_late == 0);
  REQUIRE(done_then > 0);
}

TEST_CASE("a thread that waits long for another one sleeps", "[pool]") {
  const pid_t caller = this_thread();
  std::atomic<bool> begun{false}, slept{false};
  for (int round = 0; round < 3; ++round)
    run_team(2, [&](Team) {
      // Both tasks are under way: the caller's ends first.
      if (this_thread() == caller) {
        while (!begun) std::this_thread::yield();
      } else {
        begun = true;
        slept = falls_asleep(caller);
      }
    });
  REQUIRE(slept);
}
