// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend's temporal algorithm cuts a stencil: pure functions, tested without a device.
#include <temporal/temporal.hpp>
#include <temporal/temporal_axis.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

plugin::StencilProblem problem(std::vector<std::int64_t> extents, int radius, bool box,
                               tessera_boundary mode = TESSERA_BOUNDARY_FIXED, std::int64_t steps = 100) {
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = TESSERA_F32;
  desc.rank = std::int32_t(extents.size());
  desc.steps = steps;
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0; stride *= extents[axis]) {
    desc.extents[axis] = extents[axis];
    desc.in_strides[axis] = desc.out_strides[axis] = stride;
    desc.boundary[axis][0] = desc.boundary[axis][1] = mode;
  }
  std::vector<tessera_tap> taps;
  const std::int64_t r1 = desc.rank > 1 ? radius : 0, r2 = desc.rank > 2 ? radius : 0;
  for (std::int64_t i = -radius; i <= radius; ++i)
    for (std::int64_t j = -r1; j <= r1; ++j)
      for (std::int64_t l = -r2; l <= r2; ++l)
        if (box || (i != 0) + (j != 0) + (l != 0) <= 1) taps.push_back({{i, j, l}, 0.1});
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof taps[0];
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

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
  CHECK(why_not_temporal(problem({300, 300}, 1, false)).empty());
  CHECK(why_not_temporal(problem({300, 127}, 1, false)).find("127") != std::string::npos);
  CHECK(why_not_temporal(problem({300, 127}, 1, false, TESSERA_BOUNDARY_PERIODIC)).empty());
  CHECK(why_not_temporal(problem({300, 300}, 1, false, TESSERA_BOUNDARY_HALO)).find("halo") != std::string::npos);
  auto half = problem({300, 300}, 1, false, TESSERA_BOUNDARY_PERIODIC);
  half.domain.mode[2][1] = TESSERA_BOUNDARY_NEAREST;
  CHECK(why_not_temporal(half).find("axis 1 is periodic on one side alone") != std::string::npos);
}

TEST_CASE("temporal pays for several steps on a domain that fills the device") {
  CHECK(temporal_pays(problem({2048, 2048}, 1, false, TESSERA_BOUNDARY_FIXED, 2)));
  CHECK_FALSE(temporal_pays(problem({2048, 2048}, 1, false, TESSERA_BOUNDARY_FIXED, 1)));
  CHECK_FALSE(temporal_pays(problem({2048, 2048}, 1, false, TESSERA_BOUNDARY_HALO, 2)));
  CHECK(temporal_pays(problem({1024, 1024}, 1, false, TESSERA_BOUNDARY_FIXED, 2)));
  CHECK_FALSE(temporal_pays(problem({512, 512}, 1, false, TESSERA_BOUNDARY_FIXED, 2)));
  CHECK(temporal_pays(problem({512, 512}, 1, false, TESSERA_BOUNDARY_PERIODIC, 2)));
  CHECK(temporal_pays(problem({100, 100, 100}, 1, true, TESSERA_BOUNDARY_PERIODIC, 1)));
  CHECK_FALSE(temporal_pays(problem({128, 128, 128}, 1, true, TESSERA_BOUNDARY_PERIODIC, 1)));
  CHECK_FALSE(temporal_pays(problem({128, 128, 128}, 1, true, TESSERA_BOUNDARY_FIXED, 1)));
  CHECK_FALSE(temporal_pays(problem({256, 256, 256}, 1, true, TESSERA_BOUNDARY_FIXED, 1)));
  CHECK(temporal_pays(problem({256, 256, 256}, 1, true, TESSERA_BOUNDARY_FIXED, 2)));
  CHECK_FALSE(temporal_pays(problem({64, 64, 128}, 1, true, TESSERA_BOUNDARY_FIXED, 1)));
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
  CHECK(TemporalPasses(INT64_MAX, 4).count() == INT64_MAX / 4 + 1);
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
        const TemporalLayout layout = choose_layout(p, *temporal_taps(p), 2, {132, rank == 2 ? 16 : 2});
        CAPTURE(sweep, columns, layout.chunks, layout.chunk);
        CHECK(layout.column_tiles == layout.columns.count());
        CHECK(layout.row_tiles == (rank == 2 ? 1 : layout.rows.count()));
        CHECK(std::int64_t(layout.chunks) * layout.chunk >= sweep);
        CHECK(std::int64_t(layout.chunks - 1) * layout.chunk < sweep);
        if (sweep * columns > 100000000) CHECK(layout.blocks() >= 132 * (rank == 2 ? 16 : 2));
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
