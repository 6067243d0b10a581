// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA backend's models of stencils against what was measured on an H100: how near the choice among the algorithms
// comes to the best of them, and how far the predictions are off.
#include "../baseline.hpp"
#include "stencil_offers.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("the choice is near the best of what was measured, and so are the predictions") {
  const Replay all = replay(TESSERA_BASELINE, "stencil", "cuda", 0.8, 0.25, stencil_named,
                            [](const auto& p) { return cheapest_offers(kStencilAlgorithms, p, h100(), 0); });
  CHECK(all.cases == 116);
  CHECK(all.mean_share() >= 0.98);
  CHECK(all.errors.size() == std::size(kStencilAlgorithms));
}
