// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA backend's models of time against what was measured on an H100: how near the choice among the algorithms
// comes to the best of them, and how far the predictions are off.
#include "baseline.hpp"
#include "cuda_stencil_offers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <map>
#include <string>

using namespace tessera;
using namespace tessera::cuda;

namespace {

struct Case {
  plugin::StencilProblem problem;
  std::map<std::string, double> seconds;  ///< by algorithm
};

std::map<std::string, Case> cases() {
  std::map<std::string, Case> cases;
  for (const auto& [name, seconds] : test::measured(TESSERA_BASELINE, "stencil", "cuda")) {
    const std::size_t first = name.find('/'), second = name.find('/', first + 1);
    const std::string type = name.substr(first + 1, second - first - 1);
    cases.emplace(name, Case{test::stencil_named(name.substr(0, first), type), seconds});
  }
  return cases;
}

}  // namespace

TEST_CASE("the choice is near the best of what was measured") {
  double sum = 0.0, worst = 1.0;
  int count = 0;
  for (const auto& [name, one] : cases()) {
    double best = INFINITY;
    for (const auto& [algorithm, seconds] : one.seconds) best = std::min(best, seconds);
    const std::string chosen(test::choice(one.problem));
    CAPTURE(name, chosen);
    REQUIRE(one.seconds.contains(chosen));
    const double share = best / one.seconds.at(chosen);
    CHECK(share >= 0.8);
    worst = std::min(worst, share);
    sum += std::log(share);
    ++count;
  }
  CAPTURE(worst, count);
  CHECK(count == 116);
  CHECK(std::exp(sum / count) >= 0.98);
}

TEST_CASE("predictions are near what was measured") {
  std::map<std::string, std::pair<double, int>> errors;  // squares of the logarithms, and how many
  for (const auto& [name, one] : cases())
    for (const auto& [algorithm, seconds] : one.seconds) {
      const double error = std::log(test::offers(algorithm, one.problem).cheapest().seconds / seconds);
      auto& [sum, count] = errors[algorithm];
      sum += error * error, ++count;
    }
  CHECK(errors.size() == std::size(test::kStencilAlgorithms));
  for (const auto& [algorithm, error] : errors) {
    CAPTURE(algorithm);
    CHECK(std::sqrt(error.first / error.second) <= 0.25);
  }
}
