// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend's persistent algorithm lays out a stencil: pure functions, tested without a device.
#include "stencil_offers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <optional>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

constexpr int kMultiprocessors = 132;

plugin::StencilProblem problem(std::int64_t height, std::int64_t width, int radius = 1, bool box = false,
                               tessera_boundary mode = TESSERA_BOUNDARY_FIXED, std::int64_t steps = 1000,
                               tessera_dtype dtype = TESSERA_F32) {
  return test::packed_stencil(dtype, {height, width}, test::neighbours(2, radius, box), mode, steps);
}

std::optional<PersistentLayout> choose(const plugin::StencilProblem& p, const plugin::GivenParameters& given = {}) {
  const plugin::OfferList list = test::offers("persistent", p, given);
  if (list.empty()) return std::nullopt;
  return persistent_layout(p, *temporal_taps(p), test::h100(), list.cheapest().parameters);
}

std::string why_not(const plugin::StencilProblem& p) { return why_not_persistent(p, test::h100()); }

bool says(const plugin::StencilProblem& p, const char* text) { return why_not(p).find(text) != std::string::npos; }

}  // namespace

TEST_CASE("persistent names what it does not support") {
  CHECK(why_not(problem(512, 512)).empty());
  CHECK(why_not(problem(300, 300, 2)).empty());
  CHECK(why_not(problem(300, 300, 1, true)).empty());
  CHECK(says(problem(300, 300, 2, true), "these taps have no kernel"));
  CHECK(says(problem(512, 512, 1, false, TESSERA_BOUNDARY_FIXED, std::int64_t(1) << 40), "steps = 1099511627776"));
  CHECK(says(problem(512, 512, 1, false, TESSERA_BOUNDARY_HALO), "halo"));
  CHECK(says(problem(512, 127), "axis 1 has 127 points"));
  CHECK(says(problem(3, 512), "axis 0 has 3 points"));
  CHECK(why_not(problem(3, 5, 1, false, TESSERA_BOUNDARY_PERIODIC)).empty());
  CHECK(says(problem(4096, 4096), "4096 x 4096 points"));
  CHECK(says(problem(std::int64_t(1) << 40, 128), "points"));
}

TEST_CASE("tiles own every point once, and hold what that needs") {
  for (const bool closed : {false, true})
    for (const int halo : {4, 8, 16})
      for (const int alignment : {1, 2, 4})
        for (int extent = closed ? 64 : 16; extent < 700; extent += extent < 200 ? 1 : 13)
          for (int count = 1; count < 20; ++count) {
            const PersistentTiling tiling{extent, count, 64, halo, alignment, closed};
            if (!tiling.valid()) continue;
            CAPTURE(closed, halo, alignment, extent, count);
            REQUIRE(tiling.own_begin(0) == 0);
            REQUIRE(tiling.own_begin(count) == extent);
            for (int tile = 0; tile < count; ++tile) {
              const int begin = tiling.begin(tile), end = begin + tiling.size, from = tiling.own_begin(tile),
                        to = tiling.own_end(tile);
              REQUIRE((tiling.ends_low(tile) ? begin == 0 : from - begin >= halo));
              REQUIRE((tiling.ends_high(tile) ? end == extent : end - to >= halo));
              REQUIRE((!closed || (begin >= 0 && end <= extent)));
              REQUIRE((begin % alignment == 0 || (closed && tile == count - 1)));
              // What lies within the halo belongs to the neighbour on that side, which holds it where it says.
              for (const int side : {-1, 1}) {
                const int other = tiling.neighbour(tile, side);
                REQUIRE((other < 0) == (side < 0 ? tiling.ends_low(tile) : tiling.ends_high(tile)));
                if (other < 0) continue;
                for (const int point : {side < 0 ? from - halo : to, side < 0 ? from - 1 : to + halo - 1}) {
                  const int there = point + tiling.shift(tile, side), real = (point + extent) % extent;
                  REQUIRE((there >= 0 && there < tiling.size));
                  REQUIRE((tiling.begin(other) + there - real) % extent == 0);
                  REQUIRE((real >= tiling.own_begin(other) && real < tiling.own_end(other)));
                }
              }
            }
          }
}

TEST_CASE("the layout covers the domain, and the device holds it") {
  for (const auto mode : {TESSERA_BOUNDARY_NEAREST, TESSERA_BOUNDARY_PERIODIC})
    for (const auto dtype : {TESSERA_F32, TESSERA_F64})
      for (const int radius : {1, 2})
        for (const std::int64_t height : {5, 33, 512, 1000, 3001})
          for (const std::int64_t width : {128, 129, 512, 1021}) {
            const auto p = problem(height, width, radius, false, mode, 1000, dtype);
            const auto layout = choose(p);
            CAPTURE(mode, dtype, radius, height, width);
            if (!layout) {
              CHECK((height == 5 || height * width > 500000));  // too small for a tile and its halos, or too large
              continue;
            }
            CHECK(layout->blocks() <= kMultiprocessors);
            CHECK(layout->row_tiling.valid());
            CHECK(layout->column_tiling.valid());
            CHECK(layout->row_tiling.size == layout->rows * layout->warps);
            CHECK(layout->row_tiling.halo >= layout->depth * radius);
            CHECK(layout->column_tiling.halo >= layout->depth * radius);
            const auto rows = persistent_rows(dtype, *temporal_taps(p));
            CHECK(std::find(rows.begin(), rows.end(), layout->rows) != rows.end());
          }
}

TEST_CASE("layouts that are asked for are the ones that come") {
  const auto p = problem(301, 403);
  for (int depth = 1; depth <= 8; ++depth) {
    const auto layout = choose(p, test::given({{"depth", depth}, {"rows", 8}, {"warps", 5}}));
    REQUIRE(layout);
    CHECK(layout->depth == depth);
    CHECK(layout->rows == 8);
    CHECK(layout->warps == 5);
  }
  CHECK_THROWS_AS(choose(p, test::given({{"rows", 5}})), plugin::Error);
  CHECK_THROWS_AS(choose(p, test::given({{"depth", 16}, {"rows", 4}, {"warps", 1}})), plugin::Error);
  CHECK(choose(problem(512, 512, 1, false, TESSERA_BOUNDARY_FIXED, 3))->depth <= 3);
}

TEST_CASE("an exchange needs two sets of all tiles, and one round none") {
  for (const auto& offer : test::all_offers("persistent", problem(300, 300, 1, false, TESSERA_BOUNDARY_FIXED, 9))) {
    const auto p = problem(300, 300, 1, false, TESSERA_BOUNDARY_FIXED, 9);
    const PersistentLayout layout = persistent_layout(p, *temporal_taps(p), test::h100(), offer.parameters);
    const auto tile = std::uint64_t(layout.rows) * std::uint64_t(layout.warps) * kWarpColumns * 4;
    CHECK(offer.workspace_bytes == (layout.depth < 9 ? 2 * std::uint64_t(layout.blocks()) * tile : 0));
  }
}

TEST_CASE("a device without cooperative launches is told") {
  Machine machine = test::h100();
  machine.cooperative = false;
  CHECK(why_not_persistent(problem(512, 512), machine).find("cooperative") != std::string::npos);
}

// The fastest of hundreds that were measured on an H100, or within 5 % of it.
TEST_CASE("layouts are those that were measured to be fast") {
  const auto chosen = [](const plugin::StencilProblem& p) {
    const auto layout = choose(p);
    REQUIRE(layout);
    return std::vector{layout->depth, layout->rows, layout->warps};
  };
  CHECK(chosen(problem(512, 512)) == std::vector{14, 6, 8});
  CHECK(chosen(problem(1024, 1024)) == std::vector{9, 12, 8});
  CHECK(chosen(problem(2048, 2048)) == std::vector{6, 20, 16});
  CHECK(chosen(problem(200, 4000)) == std::vector{16, 12, 8});
  CHECK(chosen(problem(1024, 1024, 1, true)) == std::vector{9, 12, 8});
  CHECK(chosen(problem(1024, 1024, 2)) == std::vector{4, 12, 8});
  CHECK(chosen(problem(512, 512, 1, false, TESSERA_BOUNDARY_FIXED, 1000, TESSERA_F64)) == std::vector{14, 6, 8});
}
