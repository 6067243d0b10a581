// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// That blocks, and stairs, cover a triangle once.
#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <tessera/plugin/triangle_parts.hpp>
#include <warpgroup/warpgroup.hpp>
#include <warpgroup/warpgroup_stairs.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;
using namespace tessera::test;

namespace {

/// How often a part computes element (i, j) of matrix `item`.
int times_of(const plugin::TrianglePart& part, const plugin::GemmProblem& whole, std::int64_t i, std::int64_t j) {
  const plugin::GemmProblem& p = part.problem;
  if (p.stairs > 0) {
    const std::int64_t row = i / p.stairs, column = j / p.stairs;
    return i < p.m && j < p.n && (p.triangle == TESSERA_TRIANGLE_LOWER ? column < row : column > row);
  }
  int times = 0;
  const std::int64_t count = whole.batch == 1 ? p.batch : 1, apart = count > 1 ? p.stride_c / (p.ldc + 1) : 0;
  for (std::int64_t block = 0; block < count; ++block) {
    const std::int64_t row = i - part.row - block * apart, column = j - part.column - block * apart;
    times += row >= 0 && row < p.m && column >= 0 && column < p.n && (!part.diagonal || whole.writes(i, j));
  }
  return times;
}

}  // namespace

TEST_CASE("the parts of a triangle cover it once") {
  for (const std::int64_t n : {1, 7, 64, 65, 100, 128, 192, 200, 257})
    for (const std::int64_t block : {1, 16, 32, 64, 300})
      for (const bool stairs : {false, true})
        for (const tessera_triangle triangle : {TESSERA_TRIANGLE_LOWER, TESSERA_TRIANGLE_UPPER})
          for (const std::int64_t batch : {1, 3}) {
            CAPTURE(n, block, stairs, triangle, batch);
            auto p = test::product(TESSERA_F32, n, n, 5);
            p.triangle = triangle, p.batch = batch;
            const auto parts = plugin::triangle_parts(p, block, stairs);
            std::int64_t wrong = 0;
            for (std::int64_t i = 0; i < n; ++i)
              for (std::int64_t j = 0; j < n; ++j) {
                int times = 0;
                for (const plugin::TrianglePart& part : parts) times += times_of(part, p, i, j);
                wrong += times != int(p.writes(i, j));
              }
            CHECK(wrong == 0);
          }
}

TEST_CASE("groups of stairs have each block on their side once") {
  for (std::uint32_t bands = 2; bands < 10; ++bands)
    for (const std::uint32_t beside : {1u, 2u, 3u})
      for (const bool upper : {false, true}) {
        CAPTURE(bands, beside, upper);
        const WarpgroupStairs stairs{bands, beside, upper};
        const std::uint32_t all = bands * (bands - 1) / 2 * beside, of_group = (bands - 1) * beside;
        std::vector<int> taken(bands * bands * beside);
        for (std::uint32_t number = 0; number < all; ++number) {
          const auto [band, column] = stairs.at(number / of_group, number % of_group);
          REQUIRE((band < bands && column < bands * beside));
          CHECK((upper ? column / beside > band : column / beside < band));
          ++taken[band * bands * beside + column];
        }
        CHECK(std::ranges::count(taken, 1) == all);
      }
}

TEST_CASE("warpgroup computes stairs by tiles that fit into their blocks, as many as there are") {
  auto p = test::product(TESSERA_BF16, 4096, 4096, 4096);
  p.trans_b = true, p.ldb = 4096, p.triangle = TESSERA_TRIANGLE_LOWER, p.stairs = 512;
  plugin::OfferList offers;
  warpgroup_offers(p, h100(), {}, 0, offers);
  REQUIRE(!offers.empty());
  for (const plugin::Offer& offer : offers.all()) {
    const WarpgroupConfig config = warpgroup_config(p, offer.parameters);
    const std::int64_t rows = config.tile.rows * config.cluster.m, columns = config.tile.columns * config.cluster.n;
    CHECK((p.stairs % rows == 0 && p.stairs % columns == 0));
    CHECK(warpgroup_all_tiles(p.m, p.n, 1, config) == double(28 * (512 / rows) * (512 / columns)));
  }
  auto whole = p;
  whole.triangle = TESSERA_TRIANGLE_NONE, whole.stairs = 0;
  plugin::OfferList full;
  warpgroup_offers(whole, h100(), {}, 0, full);
  CHECK(offers.cheapest().seconds < 0.6 * full.cheapest().seconds);
}
