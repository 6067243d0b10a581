// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CPU backend's models of time against what was measured on a Xeon: how near the choice among the algorithms comes
// to the best of them, and how far the predictions are off.
#include "../baseline.hpp"
#include "offers.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

template <class ProblemNamed>
void check(const std::string& file, const std::string& op, int threads, ProblemNamed&& problem_named) {
  const Replay all = replay(TESSERA_BASELINES "/" + file, op, "cpu", 0.75, 0.5, problem_named,
                            [&](const auto& problem) { return cheapest_offers(problem, xeon(threads)); });
  INFO(file);
  REQUIRE(all.cases > 0);
  CHECK(all.mean_share() >= 0.97);
}

}  // namespace

TEST_CASE("the choice of a product is near the best of what was measured") {
  check("xeon-1-thread-quick-gemm.json", "gemm", 1, gemm_named);
  check("xeon-2-threads-gemm.json", "gemm", 2, gemm_named);
  check("xeon-16-threads-quick-gemm.json", "gemm", 16, gemm_named);
}

TEST_CASE("the choice of a stencil is near the best of what was measured") {
  check("xeon-1-thread-quick-stencil.json", "stencil", 1, stencil_named);
  check("xeon-2-threads-stencil.json", "stencil", 2, stencil_named);
  check("xeon-16-threads-quick-stencil.json", "stencil", 16, stencil_named);
}
