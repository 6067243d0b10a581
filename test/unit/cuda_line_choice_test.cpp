// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend's temporal algorithm cuts a domain of one axis: pure functions, tested without a device.
#include <stencil_cases.hpp>
#include <temporal.hpp>

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
    CHECK(why_not_temporal(line(1024, radius, 9, kFixed, TESSERA_F64)).empty());
    CHECK(why_not_temporal(line(2 * radius + 1, radius, 9, kPeriodic)).empty());
    CHECK_FALSE(why_not_temporal(line(2 * radius, radius, 9, kPeriodic)).empty());
  }
  CHECK_FALSE(why_not_temporal(line(5000, 5, 9, kFixed)).empty());
}

TEST_CASE("tiles of a line write every point once, and hold what that needs") {
  for (const auto dtype : {TESSERA_F32, TESSERA_F64})
    for (const auto mode : {kFixed, kPeriodic})
      for (int radius = 1; radius <= 4; ++radius)
        for (const int depth : {1, 7, 30, most_line_depth(radius, dtype == TESSERA_F64)})
          for (std::int64_t extent = mode == kFixed ? 2048 : 9; extent < 9000; extent += extent < 2100 ? 1 : 37) {
            CAPTURE(dtype, mode, radius, depth, extent);
            const StripCut cut = cut_line(line(extent, radius, depth, mode, dtype), radius, depth);
            const int reach = radius * depth;
            int next = 0;
            for (int index = 0; index < cut.count(); ++index) {
              const Strip tile = cut.strip(index, cut.count());
              const int end = tile.begin + line_width(dtype == TESSERA_F64);
              REQUIRE(tile.from == next);
              REQUIRE(tile.to > tile.from);
              next = tile.to;
              REQUIRE((tile.low ? tile.begin == 0 : tile.from - tile.begin >= reach));
              REQUIRE((tile.high ? end == extent : end - tile.to >= reach));
              REQUIRE((mode == kPeriodic || (tile.begin >= 0 && end <= extent)));
              REQUIRE((tile.high || tile.begin % kLineUnit == 0));
            }
            REQUIRE(next == extent);
          }
}
