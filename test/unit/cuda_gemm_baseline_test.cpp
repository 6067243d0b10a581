// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA backend's models of products against what was measured on an H100: how near the choice among the algorithms
// comes to the best of them, and how far the predictions are off.
#include "baseline.hpp"
#include "cuda_gemm_offers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <map>
#include <string>
#include <utility>

using namespace tessera;
using namespace tessera::test;

namespace {

plugin::GemmProblem problem_of(const std::string& name) {
  const std::size_t first = name.find('/'), second = name.find('/', first + 1);
  return gemm_named(name.substr(0, first), name.substr(first + 1, second - first - 1));
}

}  // namespace

TEST_CASE("the choice of a product is near the best of what was measured") {
  double sum = 0.0;
  int count = 0;
  for (const auto& [name, seconds] : measured(TESSERA_BASELINE, "gemm", "cuda")) {
    double best = INFINITY;
    for (const auto& [algorithm, time] : seconds) best = std::min(best, time);
    const std::string chosen = choice(problem_of(name), h100());
    CAPTURE(name, chosen);
    REQUIRE(seconds.contains(chosen));
    const double share = best / seconds.at(chosen);
    CHECK(share >= 0.8);
    sum += std::log(share), ++count;
  }
  CHECK(count > 100);
  CAPTURE(std::exp(sum / count));
  CHECK(std::exp(sum / count) >= 0.985);
}

TEST_CASE("predictions of products are near what was measured") {
  std::map<std::string, std::pair<double, int>> errors;  // squares of the logarithms, and how many
  for (const auto& [name, seconds] : measured(TESSERA_BASELINE, "gemm", "cuda"))
    for (const GemmAlgorithm& a : kGemmAlgorithms) {
      const plugin::GemmProblem p = problem_of(name);
      if (!seconds.contains(a.name) || !supports(a, p, h100())) continue;
      const double error = std::log(ask(a.offers, p, h100()).cheapest().seconds / seconds.at(a.name));
      auto& [sum, count] = errors[a.name];
      sum += error * error, ++count;
    }
  CHECK(errors.size() == std::size(kGemmAlgorithms));
  for (const auto& [algorithm, error] : errors) {
    CAPTURE(algorithm);
    CHECK(std::sqrt(error.first / error.second) <= 0.5);
  }
}
