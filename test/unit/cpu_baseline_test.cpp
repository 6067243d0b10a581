// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CPU backend's models of time against what was measured on a Xeon: how near the choice among the algorithms comes
// to the best of them, and how far the predictions are off.
#include "baseline.hpp"
#include "cpu_offers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr double kLeastMeanShare = 0.97, kLeastShare = 0.75, kMostError = 0.5;

/// Compares a file with the model; `problem_named` makes a problem of a case's name and type.
template <class ProblemNamed>
void replay(const std::string& file, const std::string& op, int threads, ProblemNamed&& problem_named) {
  double sum = 0.0, errors = 0.0;
  int cases = 0, predictions = 0;
  for (const auto& [name, seconds] : measured(TESSERA_BASELINES "/" + file, op, "cpu")) {
    const std::size_t slash = name.find('/');
    const auto offers = cheapest_offers(problem_named(name.substr(0, slash), name.substr(slash + 1, 3)), xeon(threads));
    double best = INFINITY;
    for (const auto& [algorithm, time] : seconds) best = std::min(best, time);
    const std::string& chosen = offers.front().algorithm;
    INFO(file << ": " << name << ", chosen is " << chosen);
    REQUIRE(seconds.contains(chosen));
    const double share = best / seconds.at(chosen);
    CHECK(share >= kLeastShare);
    sum += std::log(share), ++cases;
    for (const auto& [algorithm, offer] : offers)
      if (algorithm != "reference" && seconds.contains(algorithm))
        errors += std::pow(std::log(offer.seconds / seconds.at(algorithm)), 2), ++predictions;
  }
  INFO(file);
  REQUIRE(cases > 0);
  CHECK(std::exp(sum / cases) >= kLeastMeanShare);
  CHECK(std::sqrt(errors / predictions) <= kMostError);
}

}  // namespace

TEST_CASE("the choice of a product is near the best of what was measured") {
  replay("xeon-1-thread-quick-gemm.json", "gemm", 1, gemm_named);
  replay("xeon-2-threads-gemm.json", "gemm", 2, gemm_named);
  replay("xeon-16-threads-quick-gemm.json", "gemm", 16, gemm_named);
}

TEST_CASE("the choice of a stencil is near the best of what was measured") {
  replay("xeon-1-thread-quick-stencil.json", "stencil", 1, stencil_named);
  replay("xeon-2-threads-stencil.json", "stencil", 2, stencil_named);
  replay("xeon-16-threads-quick-stencil.json", "stencil", 16, stencil_named);
}
