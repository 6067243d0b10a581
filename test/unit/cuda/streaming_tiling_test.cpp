// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the streaming algorithm's tiles cut a domain: pure functions, tested without a device.
#include "stencil_offers.hpp"

#include <stencil_cases.hpp>
#include <streaming/streaming_tiling.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

plugin::StencilProblem volume(tessera_dtype dtype, int radius, tessera_boundary mode,
                              const std::vector<std::int64_t>& extents) {
  return test::packed_stencil(dtype, extents, test::listed(test::star(3, radius, test::Weights::integer)), mode);
}

double streaming_seconds(tessera_dtype dtype, int radius, tessera_boundary mode,
                         const std::vector<std::int64_t>& extents) {
  return test::offers("streaming", volume(dtype, radius, mode, extents)).cheapest().seconds;
}

std::int64_t points(const PointBox& box) { return box.extent(0) * box.extent(1) * box.extent(2); }

/// Every point of the domain lies in the interior or in one box of the shell, and tiles read only what exists.
template <class Tile, class Shape>
void check_cut(const plugin::Domain& domain) {
  const PointBox interior = interior_box<Tile, Shape>(domain);
  const StreamingShell shell = shell_around(domain, interior, Tile::kWidth);
  std::int64_t sum = points(interior);
  std::vector<int> owners(std::size_t(domain.extents[0] * domain.extents[1] * domain.extents[2]));
  const auto own = [&](const PointBox& box) {
    for (std::int64_t z = box.begin[0]; z < box.end[0]; ++z)
      for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
        for (std::int64_t x = box.begin[2]; x < box.end[2]; ++x)
          ++owners[std::size_t((z * domain.extents[1] + y) * domain.extents[2] + x)];
  };
  own(interior);
  for (const PointBox& box : shell.box) sum += points(box), own(box);
  CHECK(sum == std::int64_t(owners.size()));
  CHECK(std::ranges::count(owners, 1) == std::int64_t(owners.size()));
  if (points(interior) == 0) return;
  for (const int axis : {0, 1}) {
    CHECK(interior.begin[axis] >= Shape::kRadius);
    CHECK(interior.end[axis] <= domain.extents[axis] - Shape::kRadius);
  }
  CHECK((interior.end[0] - interior.begin[0]) % Tile::kPlanes == 0);
  CHECK((interior.end[1] - interior.begin[1]) % Tile::kRows == 0);
}

}  // namespace

TEST_CASE("tiles and shell share the domain") {
  using Shape = TapShape<TapPattern::star, 3, 3>;
  using Tiles = StreamingTiles<float, Shape>;
  using NarrowTiles = StreamingTiles<float16, Shape>;
  for (const std::int64_t planes : {1, 6, 7, 11, 16})
    for (const std::int64_t rows : {5, 9, 10, 18})
      for (const std::int64_t row : {3, 7, 12, 16, 37, 40}) {
        const auto p = volume(TESSERA_F32, 3, TESSERA_BOUNDARY_FIXED, {planes, rows, row});
        CAPTURE(planes, rows, row);
        check_cut<Tiles::Aligned, Shape>(p.domain);
        check_cut<Tiles::Unaligned, Shape>(p.domain);
        check_cut<NarrowTiles::Aligned, Shape>(p.domain);
      }
}

TEST_CASE("streaming pays for planes beyond whole tiles, and for short rows") {
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})  // tiles of four planes hold 8 of 14, and 8 of 15
    CHECK(streaming_seconds(dtype, 3, TESSERA_BOUNDARY_FIXED, {15, 38, 39}) >
          streaming_seconds(dtype, 3, TESSERA_BOUNDARY_FIXED, {14, 38, 39}) + 1e-6);
  const auto narrow = volume(TESSERA_F32, 3, TESSERA_BOUNDARY_FIXED, {467, 107, 13});
  CHECK(test::choice(narrow) == "register_tile");  // 9.3 us on an H100; streaming takes 26
}

TEST_CASE("streaming pays as for a list where rows of 16 bits are not aligned, and less than for f32 where they are") {
  const auto seconds = [](tessera_dtype dtype, std::int64_t row) {
    return streaming_seconds(dtype, 1, TESSERA_BOUNDARY_FIXED, {256, 256, row});
  };
  for (const tessera_dtype dtype : {TESSERA_F16, TESSERA_BF16}) {
    CHECK(seconds(dtype, 264) < seconds(TESSERA_F32, 264));
    CHECK(seconds(dtype, 257) > 1.5 * seconds(dtype, 264));
  }
}
