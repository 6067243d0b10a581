// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The CPU backend's parallel regions.

#include "parallel.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <stdexcept>
#include <vector>

using tessera::cpu::run_team;
using tessera::cpu::Team;

TEST_CASE("every item of work is done by one thread") {
  for (const int threads : {1, 2, 3, 8, tessera::cpu::kMostThreads}) {
    std::vector<std::atomic<int>> done(5000);
    run_team(threads, [&](Team team) {
      for (std::int64_t i = team.begin(5000); i < team.end(5000); ++i) ++done[std::size_t(i)];
    });
    for (const auto& times : done) REQUIRE(times == 1);
  }
}

TEST_CASE("an exception of any type leaves a parallel region behind it") {
  for (int thrower = 0; thrower < 4; ++thrower)
    REQUIRE_THROWS_AS(run_team(4,
                               [&](Team team) {
                                 if (team.rank == thrower % team.size) throw std::length_error("of a row");
                               }),
                      std::length_error);
  REQUIRE_THROWS_AS(run_team(4, [](Team) { throw std::bad_alloc(); }), std::bad_alloc);
  REQUIRE_THROWS_AS(run_team(4, [](Team team) { throw team.rank; }), int);
}
