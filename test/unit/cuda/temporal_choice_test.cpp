// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend's temporal algorithm cuts a stencil: pure functions, tested without a device.
#include "stencil_offers.hpp"

#include <temporal/temporal_axis.hpp>

#include <catch2/catch_test_macros.hpp>

#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

plugin::StencilProblem problem(const std::vector<std::int64_t>& extents, int radius, bool box,
                               tessera_boundary mode = TESSERA_BOUNDARY_FIXED, std::int64_t steps = 100) {
  return test::packed_stencil(TESSERA_F32, extents, test::neighbours(int(extents.size()), radius, box), mode, steps);
}

std::string why_not(const plugin::StencilProblem& p) { return why_not_temporal(p, test::h100()); }

}  // namespace

TEST_CASE("temporal knows stars and boxes, and nothing else") {
  for (int rank = 1; rank <= 3; ++rank)
    for (int radius = 1; radius <= 2; ++radius)
      for (const bool box : {false, true}) {
        auto p = problem(std::vector<std::int64_t>(std::size_t(rank), 64), radius, box);
        const auto taps = temporal_taps(p);
        REQUIRE(taps);
        CHECK(taps->rank == rank);
        CHECK(taps->radius == radius);
        CHECK(taps->box == (box && rank > 1));
        auto missing = p;
        missing.taps.erase(missing.taps.begin() + 1);
        CHECK_FALSE(temporal_taps(missing));
        auto twice = p;
        twice.taps.back() = twice.taps.front();
        CHECK_FALSE(temporal_taps(twice));
      }
  CHECK_FALSE(temporal_taps(problem({64, 64}, 3, false)));
}

TEST_CASE("temporal names what it does not support") {
  CHECK(why_not(problem({300, 300}, 1, false)).empty());
  CHECK(why_not(problem({300, 127}, 1, false)).find("127") != std::string::npos);
  CHECK(why_not(problem({300, 127}, 1, false, TESSERA_BOUNDARY_PERIODIC)).empty());
  CHECK(why_not(problem({300, 300}, 1, false, TESSERA_BOUNDARY_HALO)).find("halo") != std::string::npos);
}

TEST_CASE("temporal offers the depths that its kernels have and the steps can use") {
  const auto depths = [](const plugin::StencilProblem& p, const plugin::GivenParameters& given = {}) {
    std::vector<std::int64_t> found;
    for (const auto& offer : test::all_offers("temporal", p, given)) found.push_back(offer.parameters.at("depth"));
    return found;
  };
  CHECK(depths(problem({2048, 2048}, 1, false)) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(depths(problem({2048, 2048}, 2, false, TESSERA_BOUNDARY_FIXED, 3)) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(depths(problem({100, 100, 200}, 1, true)) == std::vector<std::int64_t>{1, 2});
  CHECK(depths(problem({2048, 2048}, 1, false), test::given({{"depth", 7}})) == std::vector<std::int64_t>{7});
  CHECK_THROWS_AS(depths(problem({2048, 2048}, 1, false), test::given({{"depth", 11}})), plugin::Error);

  const auto chunk = test::offers("temporal", problem({2048, 2048}, 1, false), test::given({{"chunk", 100}}));
  CHECK(chunk.cheapest().parameters.at("chunk") == 100);
  CHECK_THROWS_AS(test::offers("temporal", problem({64, 200}, 1, false), test::given({{"chunk", 65}})), plugin::Error);
}

TEST_CASE("temporal takes the deepest passes on a large domain, and needs an array where there are several") {
  for (const auto mode : {TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_PERIODIC})
    CHECK(test::offers("temporal", problem({16384, 16384}, 1, false, mode)).cheapest().parameters.at("depth") == 10);
  for (const auto& offer : test::all_offers("temporal", problem({300, 300}, 1, false, TESSERA_BOUNDARY_FIXED, 6)))
    CHECK(offer.workspace_bytes == (offer.parameters.at("depth") < 6 ? 300 * 300 * 4 : 0));
}

TEST_CASE("passes have the steps that are asked for, and about as many each") {
  for (std::int64_t depth = 1; depth <= 12; ++depth)
    for (std::int64_t steps = 1; steps <= 100; ++steps) {
      const TemporalPasses passes(steps, depth);
      std::int64_t sum = 0;
      for (std::int64_t pass = 0; pass < passes.count(); ++pass) {
        sum += passes.depth(pass);
        REQUIRE(passes.depth(pass) <= depth);
        REQUIRE(passes.depth(pass) >= passes.depth(passes.count() - 1) - 1);
      }
      REQUIRE(sum == steps);
      REQUIRE(passes.count() == (steps + depth - 1) / depth);
    }
  const TemporalPasses most(INT64_MAX, 4);
  CHECK(most.count() == INT64_MAX / 4 + 1);
  CHECK(most.depth(0) == 3);
  CHECK(most.depth(1) == 4);
  CHECK(most.depth(most.count() - 1) == 4);
}

TEST_CASE("tiles write every column once, and hold what that needs") {
  for (const bool closed : {false, true})
    for (int halo = 4; halo <= 16; halo += 4)
      for (int extent = closed ? kWarpColumns : 1; extent < 1000; ++extent) {
        const AxisTiling tiling{extent, kWarpColumns, halo, kLaneColumns, closed};
        CAPTURE(closed, halo, extent);
        int next = 0;
        for (int index = 0; index < tiling.count(); ++index) {
          const AxisTile tile = tiling.tile(index, tiling.count());
          const int end = tile.begin + kWarpColumns;
          REQUIRE(tile.write_begin == next);
          REQUIRE((tile.write_end > tile.write_begin || extent == 0));
          next = tile.write_end;
          // Away from the ends of a closed axis there is a halo; at one, a lane begins or ends with it.
          REQUIRE((tile.low ? tile.begin == 0 : tile.write_begin - tile.begin >= halo));
          REQUIRE((tile.high ? end == extent : end - tile.write_end >= halo));
          REQUIRE((!closed || (tile.begin >= 0 && end <= extent)));
          REQUIRE((tile.high || tile.begin % kLaneColumns == 0));
        }
        REQUIRE(next == extent);
      }
}

TEST_CASE("chunks cover the axis, and there are enough for the device") {
  for (const std::int64_t sweep : {5, 64, 1000, 16384})
    for (const std::int64_t columns : {128, 1000, 16384})
      for (const int rank : {2, 3}) {
        const auto p = problem(rank == 2 ? std::vector{sweep, columns} : std::vector{sweep, 64L, columns}, 1, false);
        const TemporalLayout layout = choose_layout(p, *temporal_taps(p), 2, 132);
        CAPTURE(sweep, columns, layout.chunks, layout.chunk);
        CHECK(layout.column_tiles == layout.columns.count());
        CHECK(layout.row_tiles == (rank == 2 ? 1 : layout.rows.count()));
        CHECK(std::int64_t(layout.chunks) * layout.chunk >= sweep);
        CHECK(std::int64_t(layout.chunks - 1) * layout.chunk < sweep);
        if (sweep * columns > 100000000) CHECK(layout.blocks() >= 132 * (rank == 2 ? 12 : 1));
      }
}

TEST_CASE("rows that are read for others are those that the boundary mode names") {
  for (const auto mode : {TESSERA_BOUNDARY_NEAREST, TESSERA_BOUNDARY_REFLECT, TESSERA_BOUNDARY_MIRROR,
                          TESSERA_BOUNDARY_CONSTANT, TESSERA_BOUNDARY_FIXED})
    for (int radius = 1; radius <= 2; ++radius)
      for (int extent = 2 * radius + 1; extent < 12; ++extent) {
        const auto p = problem({extent, 200}, radius, true, mode);
        const TemporalAxis<float> rows(p.domain, 1);
        const SweepEnds ends(rows);
        for (int arriving = 0; arriving < extent; ++arriving)
          for (int k = 0; k <= 2 * radius; ++k) {
            const unsigned bits = ends.at(arriving, extent);
            const int y = arriving - radius + k;
            CAPTURE(mode, extent, arriving, k);
            REQUIRE(((bits & SweepEnds::frozen(k)) != 0) == rows.frozen(y));
            unsigned any = 0;
            for (int offset = -radius; offset <= radius; ++offset) {
              const int read = y + offset;
              const bool constant = mode == TESSERA_BOUNDARY_CONSTANT, fixed = mode == TESSERA_BOUNDARY_FIXED;
              const bool finds = constant ? y == arriving : p.domain.mapped(1, read) == arriving;
              const bool expected = rows.contains(y) && !rows.contains(read) && !fixed && finds;
              CAPTURE(offset);
              REQUIRE(((bits & SweepEnds::outside(k, offset)) != 0) == expected);
              any |= bits & SweepEnds::outside(k, offset);
            }
            REQUIRE(any == (bits & SweepEnds::outside(k)));
          }
      }
}
