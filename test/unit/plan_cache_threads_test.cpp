// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The plan cache among threads and after a fork.

#include "empty_cache.hpp"
#include "errors.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

/// Runs `body` in a forked child; its exit code, -1 where a signal ended it.
int in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a forked child begins with an empty cache", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  GemmPlan::borrow(context, square(2));
  GemmPlan lent = GemmPlan::borrow(context, square(3));
  const auto works = [](GemmPlan plan, std::size_t n) {
    const std::vector<float> ones(n * n, 1.0f);
    std::vector<float> c(n * n);
    plan.execute(1.0f, ones, ones, 0.0f, c);
    return c == std::vector<float>(n * n, float(n));
  };
  CHECK(in_child([&] {
          const auto empty = plan_cache::info();
          if (empty.idle != 0 || empty.lent != 0 || empty.bytes != 0 || empty.found != 0 || empty.made != 0)
            return false;
          if (!works(std::move(lent), 3)) return false;  // what this thread had is still its own, and goes
          if (plan_cache::info().idle != 0) return false;
          if (!works(GemmPlan::borrow(context, square(2)), 2) || plan_cache::info().made != 1) return false;
          if (!works(GemmPlan::borrow(context, square(2)), 2) || plan_cache::info().found != 1) return false;
          plan_cache::clear();
          return plan_cache::info().idle == 0;
        }) == 0);
  CHECK(plan_cache::info().idle == 1);
  CHECK(works(std::move(lent), 3));
  CHECK(plan_cache::info().idle == 2);
}

TEST_CASE("a fork beside threads that use the cache does not hang", "[cache]") {
  const EmptyCache cache;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      Context context = fake();
      while (!stop) GemmPlan::borrow(context, square(2));
    });
  Context context = fake();
  for (int i = 0; i < 50; ++i)
    CHECK(in_child([] {
            alarm(20);  // a child that waits for a lock is ended by a signal
            return plan_cache::info().idle == 0;
          }) == 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("threads borrow, execute and give back", "[cache]") {
  const EmptyCache cache;
  std::atomic<int> right{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 8; ++rank)
    threads.emplace_back([&, rank] {
      Context own = fake();  // the emulated device is one thread's
      const auto value = float(rank + 1);
      const std::vector<float> a(16, value), b(16, 1.0f);
      for (int i = 0; i < 200; ++i) {
        const std::size_t n = 1 + std::size_t(i) % 4;
        std::vector<float> c(n * n);
        gemm(own, {.m = n, .n = n, .k = n}, 1.0f, a, b, 0.0f, c);
        ++(c == std::vector<float>(n * n, float(n) * value) ? right : wrong);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 1600);
  CHECK(wrong == 0);
  CHECK(plan_cache::info().lent == 0);
  CHECK(plan_cache::info().idle == 0);  // the contexts are gone
}

}  // namespace tessera::test
