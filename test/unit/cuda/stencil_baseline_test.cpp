// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA backend's models of stencils against what was measured on an H100: how near the choice among the algorithms
// comes to the best of them, and how far the predictions are off.
#include "../baseline.hpp"
#include "stencil_offers.hpp"

#include <iterator>
#include <vector>

using namespace tessera;
using namespace tessera::test;

TEST_CASE("the choice is near the best of what was measured, and so are the predictions") {
  // They were measured when there was no `dense`.
  const auto known = [](const plugin::StencilProblem& p) {
    std::vector<NamedOffer> offers = cheapest_offers(kStencilAlgorithms, p, h100(), 0);
    std::erase_if(offers,
                  [](const NamedOffer& offer) { return offer.algorithm == "dense" || offer.algorithm == "separable"; });
    return offers;
  };
  const Replay all = replay(TESSERA_BASELINE, "stencil", "cuda", 0.8, 0.25, stencil_named, known);
  CHECK(all.cases == 116);
  CHECK(all.mean_share() >= 0.98);
  CHECK(all.errors.size() == std::size(kStencilAlgorithms) - 2);
}
