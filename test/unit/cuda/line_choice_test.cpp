// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend's temporal algorithm cuts a domain of one axis: pure functions, tested without a device.
#include "stencil_offers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace tessera;
using namespace tessera::cuda;

namespace {

plugin::StencilProblem line(std::int64_t extent, int radius, std::int64_t steps, tessera_boundary mode,
                            tessera_dtype dtype = TESSERA_F32) {
  return test::packed_stencil(dtype, {extent}, test::neighbours(1, radius, false), mode, steps);
}

std::string why_not(const plugin::StencilProblem& p) { return why_not_temporal(p, test::h100()); }

constexpr auto kFixed = TESSERA_BOUNDARY_FIXED, kPeriodic = TESSERA_BOUNDARY_PERIODIC;

}  // namespace

TEST_CASE("temporal takes lines that hold a tile, and periodic ones of any length") {
  for (int radius = 1; radius <= 4; ++radius) {
    CHECK(why_not(line(2048, radius, 9, kFixed)).empty());
    CHECK(why_not(line(2047, radius, 9, kFixed)).find("2048") != std::string::npos);
    CHECK(why_not(line(1536, radius, 9, kFixed, TESSERA_F64)).empty());
    CHECK(why_not(line(2 * radius + 1, radius, 9, kPeriodic)).empty());
    CHECK_FALSE(why_not(line(2 * radius, radius, 9, kPeriodic)).empty());
  }
  CHECK_FALSE(why_not(line(5000, 5, 9, kFixed)).empty());
}

TEST_CASE("tiles of a line write every point once, and hold what that needs") {
  for (const auto dtype : {TESSERA_F32, TESSERA_F64})
    for (const auto mode : {kFixed, kPeriodic})
      for (int radius = 1; radius <= 4; ++radius)
        for (const int depth : {1, 7, 30, most_line_depth(radius, dtype)})
          for (std::int64_t extent = mode == kFixed ? 2048 : 9; extent < 9000; extent += extent < 2100 ? 1 : 37) {
            CAPTURE(dtype, mode, radius, depth, extent);
            const AxisTiling tiling = line_tiling(line(extent, radius, depth, mode, dtype), radius, depth);
            const int reach = radius * depth;
            int next = 0;
            for (int index = 0; index < tiling.count(); ++index) {
              const AxisTile tile = tiling.tile(index, tiling.count());
              const int end = tile.begin + line_width(dtype);
              REQUIRE(tile.write_begin == next);
              REQUIRE(tile.write_end > tile.write_begin);
              next = tile.write_end;
              REQUIRE((tile.low ? tile.begin == 0 : tile.write_begin - tile.begin >= reach));
              REQUIRE((tile.high ? end == extent : end - tile.write_end >= reach));
              REQUIRE((mode == kPeriodic || (tile.begin >= 0 && end <= extent)));
              REQUIRE((tile.high || tile.begin % kLineAlignment == 0));
            }
            REQUIRE(next == extent);
          }
}

TEST_CASE("passes over a line are as deep as pays") {
  const auto depth = [](const plugin::StencilProblem& p) {
    return test::offers("temporal", p).cheapest().parameters.at("depth");
  };
  // Far beyond the caches: as deep as hides the traffic, and no deeper than the overlap repays.
  for (int radius = 1; radius <= 4; ++radius)
    for (const auto dtype : {TESSERA_F32, TESSERA_F64}) {
      CAPTURE(radius, dtype);
      const std::int64_t chosen = depth(line(1 << 28, radius, 1000, kFixed, dtype));
      CHECK(chosen * radius >= 40);
      CHECK(chosen * radius <= 160);
    }
  // Where every tile has a scheduler for itself, launches are what counts.
  CHECK(depth(line(1 << 16, 1, 300, kFixed)) == 300);
  CHECK(depth(line(1 << 16, 1, 1000, kFixed)) == 500);
  CHECK(depth(line(1 << 28, 1, 7, kPeriodic)) == 7);
  for (std::int64_t steps = 1; steps < 600; steps += 13) {
    const std::int64_t chosen = depth(line(1 << 22, 2, steps, kPeriodic));
    CHECK(chosen >= 1);
    CHECK(chosen <= std::min<std::int64_t>(steps, most_line_depth(2, TESSERA_F32)));
  }
}

TEST_CASE("a pass over a line takes its multiply-adds or its traffic") {
  const auto seconds = [](std::int64_t extent, std::int64_t depth, tessera_dtype dtype) {
    const auto p = line(extent, 1, depth, kFixed, dtype);
    return test::offers("temporal", p, test::given({{"depth", depth}})).cheapest().seconds;
  };
  CHECK(seconds(1 << 28, 1, TESSERA_F32) < 1.1 * 8.0 * (1 << 28) / 2.978e12);
  CHECK(seconds(1 << 28, 400, TESSERA_F32) > 3.8 * seconds(1 << 28, 100, TESSERA_F32));
  CHECK(seconds(1 << 28, 100, TESSERA_F64) > 1.8 * seconds(1 << 28, 100, TESSERA_F32));
  CHECK(test::offers("temporal", line(1 << 12, 1, 300, kFixed)).all().size() == 8);
  CHECK_THROWS_AS(test::offers("temporal", line(1 << 12, 4, 9, kFixed), test::given({{"depth", 129}})), plugin::Error);
}
