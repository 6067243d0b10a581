// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// How the perf suite takes turns, how it says numbers, and how well it says that it knows them.

#include "noise.hpp"
#include "measure.hpp"
#include "readable.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace tessera::perf;

namespace {

/// 1, 2, ... n.
std::vector<double> counting(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

}  // namespace

TEST_CASE("numbers have three digits and a prefix") {
  CHECK(readable(51912.3e9, "FLOP/s") == "51.9 TFLOP/s");
  CHECK(readable(0.0123e9, "Stencil/s") == "12.3 MStencil/s");
  CHECK(readable(1.70104173, "s") == "1.70 s");
  CHECK(readable(272629760.0, "B/s") == "273 MB/s");
  CHECK(readable(999.4e-6, "s") == "999 us");
  CHECK(readable(999.6e-6, "s") == "1.00 ms");
  CHECK(readable(1e3, "B/s") == "1.00 kB/s");
  CHECK(readable(1e-6, "s") == "1.00 us");
  CHECK(readable(4e-9, "s") == "4.00 ns");
  CHECK(readable(4e-14, "s") == "0.00 ns");
  CHECK(readable(1e22, "B") == "10000 EB");
  CHECK(readable(0.0, "B/s") == "0.00 B/s");
  CHECK(three_digits(1769.75) == "1770");
  CHECK(three_digits(9.996) == "10.0");
  CHECK(three_digits(0.5) == "0.50");
}

TEST_CASE("the interval of a median by the order of the samples") {
  // Few samples are taken whole; the ranks of larger numbers are those of the sign test's tables at 95 %.
  for (const auto& [count, rank] : {std::pair(1, 1), {5, 1}, {6, 1}, {9, 2}, {12, 3}, {20, 6}, {30, 10}}) {
    CAPTURE(count);
    CHECK(median_interval(counting(count)) == std::pair(double(rank), double(count + 1 - rank)));
  }
  std::mt19937 random(7);
  std::lognormal_distribution<double> distribution(0.0, 1.0);
  int held = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(15);
    for (double& sample : samples) sample = distribution(random);
    const auto [low, high] = median_interval(samples);
    held += low <= 1.0 && 1.0 <= high;
  }
  CHECK(held > 0.95 * kTrials);
  CHECK(doubt(2.0, {1.6, 2.2}) == Catch::Approx(0.25));
  CHECK(doubt(2.0, {1.9, 3.0}) == Catch::Approx(0.5));
}

TEST_CASE("contestants take turns, and each is first as often as the others") {
  std::string order;
  const auto sampler = [&order](char name, std::int64_t count) {
    const auto seconds = [&order, name] {
      order += name;
      return double(order.size());
    };
    return Sampler(seconds, count);
  };
  const auto run = [&](std::int64_t pass, const std::function<bool()>& next_round) {
    order.clear();
    Sampler a = sampler('a', 3), b = sampler('b', 3), c = sampler('c', 1);
    contest({&a, &b, &c}, pass, next_round);
    return a.samples;
  };
  CHECK(run(0, [] { return true; }) == std::vector{3.0, 4.0, 6.0});
  CHECK(order == "bcaabab");
  CHECK(run(1, [] { return true; }).size() == 3);
  CHECK(order.starts_with("cab"));  // another begins each pass
  int rounds = 0;
  CHECK(run(0, [&] { return ++rounds < 3; }).size() == 2);  // stopped in between
  CHECK(run(0, [] { return false; }).size() == 1);          // nobody is left without a sample
}

TEST_CASE("of several ways the fastest counts, and what chose it does not score it") {
  // Way 2 is chosen by 1 second, and then takes 3; the others take 2, and would take 1 afterwards.
  std::size_t way = 0;
  int round = 0;
  std::vector<std::size_t> sampled;
  const auto clock = [&](const std::function<void()>& work) {
    work();
    sampled.push_back(way);
    const bool chooses = round % 2 == 0;
    return way == 2 ? (chooses ? 1.0 : 3.0) : (chooses ? 2.0 : 1.0);
  };
  const auto works = [&way](std::size_t number) { return [&way, number](std::int64_t) { way = number; }; };
  const auto run = [&](Selection& selection) {
    sampled.clear();
    for (round = 0; selection.wants_more(0); ++round) selection.sample(0, works, 1.0);
  };
  const Budget budget{.repetitions = 8};
  const Measurement first(clock, works(0), 1.0, 1.0, budget);
  Selection selection(first, {0, 1, 2, 4, 5});
  run(selection);
  CHECK(selection.chosen() == 2);
  CHECK(selection.scored().time().repetitions == 4);
  CHECK(selection.scored().time().min == 3.0);
  CHECK(selection.scored().time().max == 3.0);
  CHECK(sampled.size() == 5 + 3 + 3 + 2 + 2 + 2 + 2 + 2);
  // Three at least are scored; one way alone is scored always.
  const Measurement few(clock, works(0), 1.0, 1.0, Budget{.repetitions = 3});
  Selection short_one(few, {1, 2});
  run(short_one);
  CHECK(short_one.scored().time().repetitions == 3);
  Selection alone(first, {2});
  run(alone);
  CHECK(alone.scored().time().repetitions == 8);
  CHECK(sampled == std::vector<std::size_t>(8, 2));
}

TEST_CASE("who is next waits for threads that still spin, but not for ever") {
  std::atomic<bool> spins{true};
  std::thread brief([&] {
    const double end = steady_seconds() + 0.05;
    while (steady_seconds() < end) {
    }
    spins = false;
  });
  wait_for_idle_threads(5.0);
  CHECK(!spins);
  brief.join();

  std::atomic<bool> stop{false};
  std::thread steady([&] {
    while (!stop) {
    }
  });
  const double begin = steady_seconds();
  wait_for_idle_threads(0.05);
  CHECK(steady_seconds() - begin >= 0.05);
  stop = true;
  steady.join();
}
