// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// That blocks, and tiles, cover a triangle once.
#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <multistage/multistage.hpp>
#include <tessera/plugin/triangle_parts.hpp>
#include <warpgroup/warpgroup.hpp>
#include <warpgroup_f32/warpgroup_f32.hpp>

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
  int times = 0;
  const std::int64_t count = whole.batch == 1 ? p.batch : 1, apart = count > 1 ? p.stride_c / (p.ldc + 1) : 0;
  for (std::int64_t block = 0; block < count; ++block) {
    const std::int64_t row = i - part.row - block * apart, column = j - part.column - block * apart;
    times += row >= 0 && row < p.m && column >= 0 && column < p.n && (!part.diagonal || whole.writes(i, j));
  }
  return times;
}

/// A product of 16 bits whose operands are the same matrix.
plugin::GemmProblem narrow_triangle(std::int64_t n, tessera_triangle triangle) {
  auto p = test::product(TESSERA_BF16, n, n, n);
  p.trans_b = true, p.ldb = n, p.triangle = triangle;
  return p;
}

}  // namespace

TEST_CASE("the parts of a triangle cover it once") {
  for (const std::int64_t n : {1, 7, 64, 65, 100, 128, 192, 200, 257})
    for (const std::int64_t block : {1, 16, 32, 64, 300})
      for (const tessera_triangle triangle : {TESSERA_TRIANGLE_LOWER, TESSERA_TRIANGLE_UPPER})
        for (const std::int64_t batch : {1, 3}) {
          CAPTURE(n, block, triangle, batch);
          auto p = test::product(TESSERA_F32, n, n, 5);
          p.triangle = triangle, p.batch = batch;
          const auto parts = plugin::triangle_parts(p, block);
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

TEST_CASE("warpgroup's tiles of a triangle: each that holds some of it once, and no other") {
  for (const std::int64_t n : {1, 63, 64, 65, 200, 1000, 1024})
    for (const int rows : {64, 128})
      for (const int columns : {8, 72, 128, 256})
        for (const int below : {1, 2})
          for (const std::int64_t band : {1, 3, 20})
            for (const auto triangle : {TESSERA_TRIANGLE_LOWER, TESSERA_TRIANGLE_UPPER, TESSERA_TRIANGLE_MIRRORED}) {
              CAPTURE(n, rows, columns, below, band, triangle);
              const WarpgroupConfig config{true, {rows, columns}, {below, 1, 1}, 1, 1, {}, triangle};
              const TriangleTiles tiles = warpgroup_triangle(n, config, band);
              const std::int64_t height = rows * below, down = (n + height - 1) / height,
                                 beside = (n + columns - 1) / columns;
              std::vector<int> taken(std::size_t(down * beside));
              for (std::uint32_t number = 0; number < tiles.tiles; ++number) {
                const TriangleTiles::Place place = tiles.at(number);
                REQUIRE((place.row < down && place.column < beside));
                ++taken[std::size_t(place.row * beside + place.column)];
              }
              std::int64_t wrong = 0;
              for (std::int64_t i = 0; i < down; ++i)
                for (std::int64_t j = 0; j < beside; ++j) {
                  const std::int64_t top = i * height, bottom = std::min(top + height, n) - 1, left = j * columns,
                                     right = std::min(left + columns, n) - 1;
                  const bool holds = triangle == TESSERA_TRIANGLE_LOWER ? bottom >= left : right >= top;
                  wrong += taken[std::size_t(i * beside + j)] != int(holds);
                }
              CHECK(wrong == 0);
            }
}

TEST_CASE("whether a part of a tile has something of a triangle") {
  const TriangleTiles upper{512, 128, 128, 1, true, false}, lower{512, 128, 128, 1, false, false};
  for (std::int64_t row = 0; row < 12; ++row)
    for (std::int64_t column = 0; column < 12; ++column) {
      int of_upper = 0, of_lower = 0;  // of 3 x 4 elements
      for (std::int64_t i = row; i < row + 3; ++i)
        for (std::int64_t j = column; j < column + 4; ++j) of_upper += i <= j, of_lower += i >= j;
      CAPTURE(row, column);
      CHECK(upper.misses(row, column, 3, 4) == (of_upper == 0));
      CHECK(lower.misses(row, column, 3, 4) == (of_lower == 0));
    }
}

TEST_CASE("warpgroup computes a triangle of 16 bits in less time than all of D, and no other") {
  for (const std::int64_t n : {1024, 2048, 4096, 8192}) {
    CAPTURE(n);
    const auto time = [&](tessera_triangle triangle) {
      return ask(warpgroup_offers, narrow_triangle(n, triangle), h100()).cheapest().seconds;
    };
    const double lower = time(TESSERA_TRIANGLE_LOWER), upper = time(TESSERA_TRIANGLE_UPPER);
    CHECK(lower < (n >= 4096 ? 0.65 : n >= 2048 ? 0.8 : 0.96) * time(TESSERA_TRIANGLE_NONE));
    CHECK(std::max(lower, upper) < 1.05 * std::min(lower, upper));  // other tiles reach beyond the diagonal
  }
  auto wide = narrow_triangle(1024, TESSERA_TRIANGLE_LOWER), large = narrow_triangle(65537, TESSERA_TRIANGLE_LOWER),
       sliced = narrow_triangle(128, TESSERA_TRIANGLE_LOWER), other = narrow_triangle(128, TESSERA_TRIANGLE_LOWER);
  wide.dtype_d = TESSERA_F32, other.trans_b = false, sliced.ordered = true, sliced.k = 8192;
  CHECK(warpgroup_why_unsupported(wide, h100()) == "it computes triangles of D in f16 and bf16");
  CHECK(warpgroup_why_unsupported(other, h100()) == "it computes triangles where one of A and B is transposed");
  CHECK(warpgroup_why_unsupported(large, h100()) == "it computes triangles of at most 65536 rows");
  CHECK(warpgroup_why_unsupported(sliced, h100()) == "it computes triangles in one slice of k, not in 2");
}

TEST_CASE("multistage computes a triangle of f32 and f64 in less time than all of D") {
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
    for (const std::int64_t n : {2048, 8192}) {
      CAPTURE(dtype, n);
      auto p = test::product(dtype, n, n, n);
      p.trans_a = true, p.lda = n;
      const double whole = ask(multistage_offers, p, h100()).cheapest().seconds;
      p.triangle = TESSERA_TRIANGLE_LOWER;
      const plugin::Offer lower = ask(multistage_offers, p, h100()).cheapest();
      CHECK(lower.seconds < (n == 2048 ? 0.8 : 0.6) * whole);
      const MultistageConfig config = multistage_config(p, h100(), lower.parameters);
      const auto tiles = double(multistage_triangle(p, config.tile).tiles);
      CHECK(multistage_blocks(p, config) == tiles * double(config.split));
      CHECK(config.transpose == 0);
    }
  auto p = test::product(TESSERA_F32, 65537, 65537, 8);
  p.triangle = TESSERA_TRIANGLE_UPPER;
  CHECK(multistage_why_unsupported(p, h100()) == "it computes triangles of at most 65536 rows");
  p.m = p.n = 64, p.compute = TESSERA_COMPUTE_TF32;
  CHECK(multistage_why_unsupported(p, h100()) == "it computes triangles of f32 and f64 in strict arithmetic");
}

TEST_CASE("warpgroup_f32 computes a triangle in less time than all of D, in one slice of k") {
  for (const std::int64_t n : {4096, 8192}) {
    CAPTURE(n);
    auto p = test::product(TESSERA_F32, n, n, n);
    p.trans_b = true, p.ldb = n, p.compute = TESSERA_COMPUTE_BF16X6;
    const double whole = ask(warpgroup_f32_offers, p, h100(), 1 << 30).cheapest().seconds;
    p.triangle = TESSERA_TRIANGLE_MIRRORED;
    const plugin::OfferList offers = ask(warpgroup_f32_offers, p, h100(), 1 << 30);
    CHECK(offers.cheapest().seconds < 0.65 * whole);
    for (const plugin::Offer& offer : offers.all()) CHECK(offer.parameters.at("split") == 1);
    const WarpgroupF32Config config = warpgroup_f32_config(p, offers.cheapest().parameters);
    const TriangleTiles tiles = warpgroup_f32_triangle(p, config.tile);
    CHECK(warpgroup_f32_blocks(p, 1, h100(), config) <= std::int64_t(tiles.tiles) * config.tile.cluster);
    CHECK((tiles.mirrored && !tiles.upper));
  }
}
