// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend's temporal algorithm cuts a domain of one axis: pure functions, tested without a device.
#include <stencil_cases.hpp>
#include <temporal/temporal.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

plugin::StencilProblem line(std::int64_t extent, int radius, std::int64_t steps, tessera_boundary mode,
                            tessera_dtype dtype = TESSERA_F32) {
  std::vector<tessera_tap> taps;
  for (std::int64_t offset = -radius; offset <= radius; ++offset) taps.push_back({{offset}, 0.1});
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = dtype;
  desc.rank = 1;
  desc.steps = steps;
  desc.extents[0] = extent;
  desc.in_strides[0] = desc.out_strides[0] = 1;
  desc.boundary[0][0] = desc.boundary[0][1] = mode;
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof taps[0];
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

constexpr auto kFixed = TESSERA_BOUNDARY_FIXED, kPeriodic = TESSERA_BOUNDARY_PERIODIC;

}  // namespace

TEST_CASE("temporal takes lines that hold a tile, and periodic ones of any length") {
  for (int radius = 1; radius <= 4; ++radius) {
    CHECK(why_not_temporal(line(2048, radius, 9, kFixed)).empty());
    CHECK(why_not_temporal(line(2047, radius, 9, kFixed)).find("2048") != std::string::npos);
    CHECK(why_not_temporal(line(1536, radius, 9, kFixed, TESSERA_F64)).empty());
    CHECK(why_not_temporal(line(2 * radius + 1, radius, 9, kPeriodic)).empty());
    CHECK_FALSE(why_not_temporal(line(2 * radius, radius, 9, kPeriodic)).empty());
  }
  CHECK_FALSE(why_not_temporal(line(5000, 5, 9, kFixed)).empty());
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
  constexpr int kMultiprocessors = 132;
  const auto depth = [](const plugin::StencilProblem& p, int radius) {
    return choose_line_depth(p, radius, kMultiprocessors);
  };
  // Far beyond the caches: as deep as hides the traffic, and no deeper than the overlap repays.
  for (int radius = 1; radius <= 4; ++radius)
    for (const auto dtype : {TESSERA_F32, TESSERA_F64}) {
      CAPTURE(radius, dtype);
      const int chosen = depth(line(1 << 28, radius, 1000, kFixed, dtype), radius);
      CHECK(chosen * radius >= 40);
      CHECK(chosen * radius <= 128);
    }
  // Where every tile has a scheduler for itself, launches are what counts.
  CHECK(depth(line(1 << 16, 1, 300, kFixed), 1) == 300);
  CHECK(depth(line(1 << 16, 1, 1000, kFixed), 1) == 500);
  CHECK(depth(line(1 << 28, 1, 7, kPeriodic), 1) == 7);
  for (std::int64_t steps = 1; steps < 600; steps += 13) {
    const int chosen = depth(line(1 << 22, 2, steps, kPeriodic), 2);
    CHECK(chosen >= 1);
    CHECK(chosen <= std::min<std::int64_t>(steps, most_line_depth(2, TESSERA_F32)));
  }
}

TEST_CASE("temporal pays for several steps on any line it supports") {
  CHECK(temporal_pays(line(1 << 12, 1, 2, kFixed)));
  CHECK(temporal_pays(line(1 << 28, 4, 2, kFixed)));
  CHECK_FALSE(temporal_pays(line(1 << 28, 4, 1, kFixed)));
  CHECK_FALSE(temporal_pays(line(1 << 10, 1, 100, kFixed)));
}
