// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The tiles that the algorithm warpgroup tries.

#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tessera::test {

TEST_CASE("warpgroup tries tiles that just fill several waves") {
  // 13 x 40 tiles are 520 of the 528 of four waves.
  const auto p = product(TESSERA_BF16, 2048, 5120, 5120, 1, false, true);
  const auto cheapest = ask(cuda::warpgroup_offers, p, h100(), kLimit, given({{"tile_n", 128}})).cheapest();
  CHECK(cheapest.parameters.at("tile_m") == 160);
}

}  // namespace tessera::test
