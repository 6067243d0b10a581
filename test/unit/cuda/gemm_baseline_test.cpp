// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA backend's models of products against what was measured on an H100: how near the choice among the algorithms
// comes to the best of them, and how far the predictions are off.
#include "../baseline.hpp"
#include "gemm_offers.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("the choice of a product is near the best of what was measured, and so are the predictions") {
  const Replay all = replay(TESSERA_BASELINE, "gemm", "cuda", 0.8, 0.5, gemm_named,
                            [](const auto& p) { return cheapest_offers(kGemmAlgorithms, p, h100(), limit_of(p)); });
  CHECK(all.cases > 100);
  CHECK(all.mean_share() >= 0.985);
  constexpr std::size_t kYounger = 3;  // than the file: elementwise, skinny_parts, chains
  CHECK(all.errors.size() == std::size(kGemmAlgorithms) - kYounger);
}
