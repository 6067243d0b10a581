// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend cuts a product: pure functions, tested without a device.
#include <multistage.hpp>
#include <peeled.hpp>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

using namespace tessera;
using namespace tessera::cuda;

namespace {

constexpr MultistageDevice kH100{132, 232448, true}, kA100{108, 166912, false};
constexpr std::uint64_t kLimit = 64 << 20;

plugin::GemmProblem problem(tessera_dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                            std::int64_t batch = 1) {
  tessera_gemm_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_GEMM;
  desc.dtype = dtype;
  desc.m = m, desc.n = n, desc.k = k;
  desc.lda = k, desc.ldb = n, desc.ldc = n;
  desc.batch = batch;
  desc.stride_a = m * k, desc.stride_b = k * n, desc.stride_c = m * n;
  return plugin::GemmProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

MultistageChoice choose(const plugin::GemmProblem& p, const MultistageDevice& device, std::uint64_t limit) {
  return choose_multistage(p, device, limit, multistage_tiles(p, device));
}

}  // namespace

TEST_CASE("multistage takes the tile and split of the least predicted time") {
  std::mt19937_64 random(Catch::getSeed());
  std::uniform_real_distribution<double> exponent(0.0, 13.0);
  const auto size = [&] { return std::int64_t(std::exp2(exponent(random))); };
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
    for (const MultistageDevice& device : {kH100, kA100})
      for (int i = 0; i < 50; ++i) {
        const auto p = problem(dtype, size(), size(), size());
        CAPTURE(p.m, p.n, p.k, dtype, device.clusters);
        const auto tiles = multistage_tiles(p, device);
        const MultistageChoice choice = choose_multistage(p, device, kLimit, tiles);
        // Large products are not cut.
        const auto cut = [&](const MultistageTile& tile) {
          return double((p.m + tile.m - 1) / tile.m * ((p.n + tile.n - 1) / tile.n)) <=
                 2.0 * tile.blocks_per_sm * device.multiprocessors;
        };
        double least = 1e300;
        for (const MultistageTile& tile : tiles)
          for (const std::int64_t split : {1, 2, 3, 4, 6, 8, 16, 64, 256})
            if ((split == 1 || cut(tile)) &&
                split <= std::max(std::int64_t(1), (p.k + tile.k_depth - 1) / tile.k_depth) &&
                split <= most_slices(p, device, kLimit))
              least = std::min(least, multistage_time(p, device, tile, split));
        REQUIRE(multistage_time(p, device, choice.tile, choice.split) <= least);
        REQUIRE(multistage_workspace(p, device, choice.split) <= kLimit);
      }
}

TEST_CASE("multistage keeps to the limits that it is given") {
  const tessera_dtype dtype = GENERATE(false, true) ? TESSERA_F64 : TESSERA_F32;
  const auto deep = problem(dtype, 128, 128, 65536);

  SECTION("a tile fits into the device's shared memory") {
    const MultistageDevice small{132, 49152, false};
    for (const std::int64_t n : {64, 512, 4096}) {
      REQUIRE(choose(problem(dtype, n, n, n), small, kLimit).tile.shared_bytes <= small.shared_per_block);
    }
  }
  SECTION("without workspace a cluster adds the slices, or there is one") {
    REQUIRE(choose(deep, kH100, kLimit).split > kMultistageMostInCluster);
    REQUIRE(choose(deep, kH100, 0).split <= kMultistageMostInCluster);
    REQUIRE(choose(deep, kA100, 0).split == 1);
    REQUIRE(multistage_workspace(deep, kH100, kMultistageMostInCluster) == 0);
    REQUIRE(multistage_workspace(deep, kA100, 2) == 2 * 128 * 128 * plugin::size_of(dtype));
  }
  SECTION("a single tile is taken") {
    for (const MultistageTile& tile : multistage_tiles(deep, kH100)) {
      const MultistageTile taken = choose_multistage(deep, kH100, kLimit, std::span(&tile, 1)).tile;
      REQUIRE(taken.m == tile.m);
      REQUIRE(taken.n == tile.n);
    }
  }
  SECTION("blocks fit into a grid") {
    // More than a grid's of the smallest tiles, which would be the fastest.
    const auto huge = problem(dtype, dtype == TESSERA_F64 ? 16 : 40, 100'000'000'000, 4096);
    const MultistageChoice choice = choose(huge, kH100, kLimit);
    REQUIRE(multistage_blocks(huge, choice.tile, choice.split) <= 2147483647.0);
  }
  SECTION("an empty product has a choice, too") {
    for (const auto& p : {problem(dtype, 0, 0, 0, 0), problem(dtype, 5, 0, 7), problem(dtype, 5, 7, 0)}) {
      REQUIRE(choose(p, kH100, kLimit).tile.m > 0);
      REQUIRE(choose(p, kH100, kLimit).split == 1);
    }
  }
}

TEST_CASE("multistage takes clusters that the device has room for") {
  ClusterRoom all{};
  for (int blocks = 1; blocks <= kMultistageMostBlocksPerSm; ++blocks) all[blocks - 1].fill(132 * blocks);
  MultistageDevice device = kH100;
  device.cluster_room = all;
  std::mt19937_64 random(Catch::getSeed());
  std::uniform_real_distribution<double> exponent(4.0, 11.0);
  const auto size = [&] { return std::int64_t(std::exp2(exponent(random))); };
  int in_clusters = 0;
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
    for (int i = 0; i < 100; ++i) {
      const auto p = problem(dtype, size(), size(), size());
      CAPTURE(p.m, p.n, p.k, dtype);
      // Room for all is as if it were not known; less room never makes a product faster; without room there are none.
      const MultistageChoice choice = choose(p, device, 0);
      CHECK(multistage_time(p, device, choice.tile, choice.split) ==
            multistage_time(p, kH100, choice.tile, choice.split));
      in_clusters += choice.split > 1;
      MultistageDevice less = device;
      for (auto& room : *less.cluster_room) room[7] = room[7] * 3 / 4, room[3] = 0;
      CHECK(multistage_time(p, less, choice.tile, 8) >= multistage_time(p, device, choice.tile, 8));
      CHECK(choose(p, less, 0).split != 4);
    }
  CHECK(in_clusters > 20);
}

TEST_CASE("multistage on an H100 takes what was measured to be best") {
  const tessera_dtype dtype = GENERATE(false, true) ? TESSERA_F64 : TESSERA_F32;
  for (const std::int64_t n : {2048, 4096, 8192, 16384}) {
    const MultistageChoice choice = choose(problem(dtype, n, n, n), kH100, kLimit);
    CHECK(choice.tile.m == 128);
    CHECK(choice.tile.n == 128);
    CHECK(choice.split == 1);
  }
  CHECK(choose(problem(dtype, 512, 512, 512), kH100, kLimit).tile.m <= 64);
  CHECK(choose(problem(dtype, 128, 128, 65536), kH100, kLimit).split >= 64);
  if (dtype == TESSERA_F32) {
    CHECK(choose(problem(dtype, 16, 8192, 8192), kH100, kLimit).tile.m == 16);
    CHECK(choose(problem(dtype, 8192, 16, 8192), kH100, kLimit).tile.n == 16);
  }
}

TEST_CASE("multistage transposes op(B) before where it transposes both operands, within the limit and where it pays") {
  const auto transposed = [](plugin::GemmProblem p, bool trans_a, bool trans_b, std::uint64_t limit) {
    p.trans_a = trans_a, p.trans_b = trans_b;
    const MultistageChoice choice = choose(p, kH100, limit);
    const std::int64_t columns = multistage_transposed_columns(p, kH100, choice, limit);
    REQUIRE(multistage_transposed_bytes(p, columns) <= limit);
    REQUIRE((columns == 0 || columns == multistage_most_transposed_columns(p, choice, limit)));
    return columns;
  };
  const auto f32 = problem(TESSERA_F32, 4096, 4096, 4096), wide = problem(TESSERA_F32, 8192, 10000, 8192);
  CHECK(transposed(f32, false, true, kLimit) == 4096);
  CHECK(transposed(wide, false, true, kLimit) == 2048);  // 79 tiles of 128 in 5 chunks
  CHECK(transposed(problem(TESSERA_F32, 8192, 10000, 8192, 3), false, true, kLimit) == 2048);
  CHECK(transposed(f32, false, false, kLimit) == 0);
  CHECK(transposed(f32, true, true, kLimit) == 0);
  CHECK(transposed(problem(TESSERA_F64, 4096, 4096, 4096), false, true, kLimit) == 0);
  CHECK(transposed(f32, false, true, 0) == 0);
  auto deep = problem(TESSERA_F32, 4096, 4096, std::int64_t{1} << 55);  // the bytes of 128 columns overflow 64 bits
  deep.trans_b = true;
  CHECK(multistage_most_transposed_columns(deep, {.tile = choose(f32, kH100, kLimit).tile, .split = 1}, kLimit) == 0);
  CHECK(transposed(problem(TESSERA_F32, 512, 512, 512), false, true, kLimit) ==
        0);  // the second kernel would cost more
  CHECK(transposed(problem(TESSERA_F32, 1024, 65536, 16384), false, true, kLimit) == 0);  // chunks of 64 tiles
  for (const auto& empty : {problem(TESSERA_F32, 0, 5, 5), problem(TESSERA_F32, 5, 0, 5), problem(TESSERA_F32, 5, 5, 0),
                            problem(TESSERA_F32, 5, 5, 5, 0)})
    CHECK(transposed(empty, false, true, kLimit) == 0);
}

TEST_CASE("multistage has a narrow tile of each kind for each operand, and transposes the other operands in f32") {
  for (const bool trans_a : {false, true})
    for (const bool trans_b : {false, true}) {
      auto p = problem(TESSERA_F32, 100, 100, 100);
      p.trans_a = trans_a, p.trans_b = trans_b;
      int few_columns = 0, few_rows = 0;
      for (const MultistageTile& tile : multistage_tiles(p, kH100)) {
        few_columns += tile.n == 16, few_rows += tile.m == 16;
        CHECK(multistage_transposes_a(p, tile) == (!trans_a && tile.n != 16));
        CHECK(multistage_transposes_b(p, tile) == (trans_b && tile.m != 16));
        CHECK(tile.k_major == ((tile.n == 16 && !trans_a) || (tile.m == 16 && trans_b)));
      }
      CHECK(few_columns == 1);
      CHECK(few_rows == 1);
      p.dtype = TESSERA_F64;
      for (const MultistageTile& tile : multistage_tiles(p, kH100))
        CHECK((!multistage_transposes_a(p, tile) && !multistage_transposes_b(p, tile)));
    }
}

TEST_CASE("rows and columns beyond whole tiles are computed apart where that saves waves of blocks") {
  const tessera_dtype dtype = GENERATE(false, true) ? TESSERA_F64 : TESSERA_F32;
  const auto peel_of = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const Peel peel = choose_peel(problem(dtype, m, n, k), kH100);
    return std::pair(peel.rows, peel.columns);
  };
  using Both = std::pair<std::int64_t, std::int64_t>;
  CHECK(peel_of(4097, 4097, 4097) != Both(0, 0));
  CHECK(peel_of(4096, 4096, 4096) == Both(0, 0));
  CHECK(peel_of(4095, 4095, 4095) == Both(0, 0));  // the last tiles are nearly full
  CHECK(peel_of(129, 129, 129) == Both(0, 0));     // a few blocks
  CHECK(peel_of(1, 4097, 4097).first == 0);
  CHECK(peel_of(0, 0, 0) == Both(0, 0));
  // Whatever is taken is beyond whole tiles.
  std::mt19937_64 random(Catch::getSeed());
  std::uniform_int_distribution<std::int64_t> size(1, 9000);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t m = size(random), n = size(random), k = size(random);
    CAPTURE(m, n, k, dtype);
    const auto [rows, columns] = peel_of(m, n, k);
    CHECK((rows == 0 || (rows == m % 128 && rows <= kMostPeeled && rows < m)));
    CHECK((columns == 0 || (columns == n % 128 && columns <= kMostPeeled && columns < n)));
  }
}
