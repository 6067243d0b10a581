// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// What the CUDA backend's GEMM algorithms offer: pure functions of the problem and the machine, tested without a
// device.
#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <multistage/multistage.hpp>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;
using namespace tessera::test;
using plugin::GemmProblem;

namespace {

Machine a100() {
  DeviceProperties p = kH100;
  p.major = 8;
  p.multiprocessors = 108;
  p.shared_per_block = 166912, p.shared_per_multiprocessor = 167936;
  p.clock_hz = 1.41e9, p.memory_clock_hz = 1.215e9;
  return machine_of(p);
}

GemmProblem problem(tessera_dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  return test::product(dtype, m, n, k, batch);
}

/// What multistage would run by itself.
MultistageConfig choose(const GemmProblem& p, const Machine& machine, std::uint64_t limit = kLimit) {
  return multistage_config(p, machine, ask(multistage_offers, p, machine, limit).cheapest().parameters);
}

/// Sizes from 1 to 2^13, small ones as often as large ones.
class Sizes {
 public:
  std::int64_t operator()() { return std::int64_t(std::exp2(exponent_(random_))); }

 private:
  std::mt19937_64 random_{Catch::getSeed()};
  std::uniform_real_distribution<double> exponent_{0.0, 13.0};
};

}  // namespace

TEST_CASE("every algorithm offers something positive within the limit for all that it supports") {
  Sizes size;
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
    for (const Machine& machine : {h100(), a100()})
      for (int i = 0; i < 100; ++i) {
        auto p = problem(dtype, size(), size(), size(), i % 4 == 0 ? size() : 1);
        p.trans_a = i % 2 == 1, p.trans_b = i % 3 == 1;
        const std::uint64_t limit = i % 5 == 0 ? 0 : kLimit;
        for (const auto& a : kGemmAlgorithms) {
          CAPTURE(a.name, p.m, p.n, p.k, p.batch, dtype, limit, machine.major);
          if (!a.why_not(p, machine).empty()) continue;
          const auto offers = ask(a.offers, p, machine, limit);
          REQUIRE(!offers.empty());
          REQUIRE(offers.all().size() <= 32);
          std::set<std::string> different;
          for (const plugin::Offer& offer : offers.all()) {
            REQUIRE(offer.seconds > 0.0);
            REQUIRE(offer.workspace_bytes <= limit);
            REQUIRE(different.insert(offer.parameters.text()).second);
          }
        }
      }
}

TEST_CASE("where the cheapest offer alone is wanted, it is the first of the cheapest of all") {
  const tessera_dtype dtype = GENERATE(tessera_dtype{TESSERA_F32}, tessera_dtype{TESSERA_F64});
  Sizes size;
  for (int i = 0; i < 100; ++i) {
    auto p = problem(dtype, size(), size(), size(), i % 4 == 0 ? size() : 1);
    p.trans_a = i % 3 == 1, p.trans_b = i % 5 == 1;
    for (const auto& a : kGemmAlgorithms) {
      CAPTURE(a.name, p.m, p.n, p.k, p.batch, dtype);
      if (!a.why_not(p, h100()).empty()) continue;
      plugin::OfferList alone(true);
      a.offers(p, h100(), {}, kLimit, alone);
      REQUIRE(alone.all().size() == 1);
      const plugin::OfferList all = ask(a.offers, p, h100());
      REQUIRE(alone.cheapest().parameters.text() == all.cheapest().parameters.text());
      REQUIRE(alone.cheapest().seconds == all.cheapest().seconds);
      REQUIRE(alone.cheapest().workspace_bytes == all.cheapest().workspace_bytes);
    }
  }
}

TEST_CASE("empty products have offers, too") {
  const tessera_dtype dtype =
      GENERATE(tessera_dtype{TESSERA_F32}, tessera_dtype{TESSERA_F64}, tessera_dtype{TESSERA_BF16});
  for (const auto& p : {problem(dtype, 0, 0, 0, 0), problem(dtype, 5, 0, 7), problem(dtype, 5, 7, 0)})
    for (const auto& a : kGemmAlgorithms) {
      CAPTURE(a.name, p.m, p.n, p.k);
      if (!a.why_not(p, h100()).empty()) continue;
      const auto offers = ask(a.offers, p, h100());
      REQUIRE(!offers.empty());
      for (const plugin::Offer& offer : offers.all()) {
        CHECK(std::isfinite(offer.seconds));
        CHECK(offer.seconds >= 0.0);
        CHECK(offer.workspace_bytes == 0);
      }
    }
}

TEST_CASE("given parameters are kept, or refused with their bounds") {
  const auto p = problem(TESSERA_F32, 1000, 1000, 1000);
  const auto kept = [&](GemmOffers* offers, const std::vector<std::pair<const char*, std::int64_t>>& values) {
    const auto list = ask(offers, p, h100(), kLimit, given(values));
    for (const plugin::Offer& offer : list.all())
      for (const auto& [key, value] : values) CHECK(offer.parameters.at(key) == value);
    return list.all().size();
  };
  CHECK(kept(multistage_offers, {{"tile_m", 64}}) > 2);
  CHECK(kept(multistage_offers, {{"tile_m", 64}, {"tile_n", 64}, {"split", 7}}) == 1);
  CHECK(kept(peeled_offers, {{"rows", 3}, {"columns", 16}}) == 1);
  CHECK(kept(tiled_shared_offers, {{"tile", 16}}) == 1);
  CHECK_THROWS_AS(kept(multistage_offers, {{"tile_m", 65}}), plugin::Error);
  CHECK_THROWS_AS(kept(multistage_offers, {{"split", 257}}), plugin::Error);
  CHECK_THROWS_AS(kept(multistage_offers, {{"transpose", 1}}), plugin::Error);
  CHECK_THROWS_AS(kept(peeled_offers, {{"rows", 17}}), plugin::Error);
  CHECK_THROWS_AS(kept(tiled_shared_offers, {{"tile", 8}}), plugin::Error);
  const auto skinny = problem(TESSERA_F32, 4, 1000, 1000);
  CHECK(ask(skinny_offers, skinny, h100(), kLimit, given({{"split", 5}})).cheapest().parameters.at("split") == 5);
  CHECK_THROWS_AS(ask(skinny_offers, skinny, h100(), 0, given({{"split", 2}})), plugin::Error);
}

TEST_CASE("multistage takes the tile and split of the least predicted time") {
  Sizes size;
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
    for (const Machine& machine : {h100(), a100()})
      for (int i = 0; i < 50; ++i) {
        const auto p = problem(dtype, size(), size(), size());
        CAPTURE(p.m, p.n, p.k, dtype, machine.clusters());
        // Large products are not cut.
        const auto cut = [&](const MultistageTile& tile) {
          return multistage_blocks(p, {tile}) <= 1.0 * machine.multiprocessors;
        };
        double least = 1e300;
        for (const MultistageTile& tile : multistage_tiles(p, machine))
          for (const std::int64_t split : {1, 2, 3, 4, 6, 8, 16, 64, 256})
            if ((split == 1 || cut(tile)) &&
                split <= std::max(std::int64_t(1), (p.k + tile.k_depth - 1) / tile.k_depth) &&
                split <= multistage_most_slices(p, machine, kLimit))
              least = std::min(least, multistage_seconds(p, machine, {tile, split}));
        const MultistageConfig config = choose(p, machine);
        REQUIRE(multistage_seconds(p, machine, config) <= least);
        REQUIRE(multistage_workspace(p, machine, config) <= kLimit);
      }
}

TEST_CASE("multistage keeps to the limits that it is given") {
  const tessera_dtype dtype = GENERATE(tessera_dtype{TESSERA_F32}, tessera_dtype{TESSERA_F64});
  const auto deep = problem(dtype, 128, 128, 65536);

  SECTION("a tile fits into the machine's shared memory") {
    Machine small = a100();
    small.shared_per_block = 49152;
    for (const std::int64_t n : {64, 512, 4096})
      REQUIRE(choose(problem(dtype, n, n, n), small).tile.shared_bytes <= small.shared_per_block);
  }
  SECTION("without workspace a cluster adds the slices, or there is one") {
    REQUIRE(choose(deep, h100()).split > std::int64_t(kMostInCluster));
    REQUIRE(choose(deep, h100(), 0).split <= std::int64_t(kMostInCluster));
    REQUIRE(choose(deep, a100(), 0).split == 1);
    const MultistageTile tile = multistage_tiles(deep, h100()).front();
    REQUIRE(multistage_workspace(deep, h100(), {tile, std::int64_t(kMostInCluster)}) == 0);
    REQUIRE(multistage_workspace(deep, a100(), {tile, 2}) == 2 * 128 * 128 * plugin::size_of(dtype));
  }
  SECTION("blocks fit into a grid") {
    // More than a grid's of the smallest tiles, which would be the fastest.
    for (const std::int64_t m : {16, 40}) {
      const auto huge = problem(dtype, m, 100'000'000'000, 4096);
      REQUIRE(multistage_blocks(huge, choose(huge, h100())) <= 2147483647.0);
      CHECK(ask(multistage_offers, huge, h100(), kLimit, given({{"tile_m", 32}, {"split", 8}})).empty());
    }
  }
}

TEST_CASE("multistage takes clusters that the machine has room for") {
  static ClusterRoom all, less;
  for (std::size_t blocks = 1; blocks <= kMostClusteredBlocksPerSm; ++blocks) {
    all[blocks - 1].fill(132 * int(blocks));
    less[blocks - 1] = all[blocks - 1];
    less[blocks - 1][7] = less[blocks - 1][7] * 3 / 4, less[blocks - 1][3] = 0;
  }
  const Machine unknown = h100();
  Machine roomy = h100(), tight = h100();
  roomy.count_clusters = [](int) -> const ClusterRoom& { return all; };
  tight.count_clusters = [](int) -> const ClusterRoom& { return less; };
  std::mt19937_64 random(Catch::getSeed());
  std::uniform_real_distribution<double> exponent(4.0, 11.0);
  const auto size = [&] { return std::int64_t(std::exp2(exponent(random))); };
  int in_clusters = 0;
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
    for (int i = 0; i < 100; ++i) {
      const auto p = problem(dtype, size(), size(), size());
      CAPTURE(p.m, p.n, p.k, dtype);
      // Room for all is as if it were not known; less room never makes a product faster; without room there are none.
      const MultistageConfig config = choose(p, roomy, 0);
      CHECK(multistage_seconds(p, roomy, config) == multistage_seconds(p, unknown, config));
      in_clusters += config.split > 1;
      CHECK(multistage_seconds(p, tight, {config.tile, 8}) >= multistage_seconds(p, roomy, {config.tile, 8}));
      const auto offers = ask(multistage_offers, p, tight, 0);
      CHECK(std::ranges::none_of(offers.all(), [](const auto& o) { return o.parameters.at("split") == 4; }));
    }
  CHECK(in_clusters > 20);
}

TEST_CASE("a multiprocessor with less shared memory holds fewer blocks") {
  const auto p = problem(TESSERA_F64, 4096, 4096, 512);
  Machine machine = h100();
  const MultistageTile tile = multistage_tiles(p, machine)[1];
  REQUIRE(tile.blocks_per_sm > 1);
  const double before = multistage_seconds(p, machine, {tile});
  machine.shared_per_multiprocessor = tile.shared_bytes + 1024;
  CHECK(multistage_seconds(p, machine, {tile}) > before);
}

TEST_CASE("a partial tile along k takes the time of a whole one") {
  const auto seconds = [](std::int64_t k) {
    const auto p = problem(TESSERA_F64, 4096, 4096, k);
    return multistage_seconds(p, h100(), {multistage_tiles(p, h100()).front()});
  };
  CHECK(seconds(1026) > 1.01 * seconds(1024));
}

TEST_CASE("multistage on an H100 takes what was measured to be best") {
  const tessera_dtype dtype = GENERATE(tessera_dtype{TESSERA_F32}, tessera_dtype{TESSERA_F64});
  for (const std::int64_t n : {2048, 4096, 8192, 16384}) {
    const MultistageConfig config = choose(problem(dtype, n, n, n), h100());
    CHECK(config.tile.m == 128);
    CHECK(config.tile.n == 128);
    CHECK(config.split == 1);
  }
  CHECK(choose(problem(dtype, 512, 512, 512), h100()).tile.m <= 64);
  CHECK(choose(problem(dtype, 128, 128, 65536), h100()).split >= 64);
}

TEST_CASE("multistage's time knows the cache's lines, and a block too many") {
  const auto seconds = [](const GemmProblem& p, int m, int n, std::int64_t split) {
    const auto fixed = given({{"tile_m", m}, {"tile_n", n}, {"split", split}, {"transpose", 0}});
    return ask(multistage_offers, p, h100(), kLimit, fixed).cheapest().seconds;
  };
  // Measured: 622 us, 388 with larger tiles. Rows of 2438 begin anywhere in a line, those of 2432 with one.
  const auto rows = [](std::int64_t k) { return test::product(TESSERA_F64, 3728, 1072, k, 1, false, true); };
  CHECK(seconds(rows(2438), 64, 64, 1) > 1.15 * seconds(rows(2432), 64, 64, 1));
  // 264 blocks are two for each multiprocessor. Measured: 1099 us with 275 in one slice, 816 us with 8 slices.
  const auto tiles = [](std::int64_t m) { return problem(TESSERA_F32, m, 632, 8656); };
  CHECK(seconds(tiles(3489), 64, 128, 8) < seconds(tiles(3489), 64, 128, 1));
}

TEST_CASE("multistage takes a narrow tile in f32, which has such tiles, for a narrow C") {
  CHECK(choose(problem(TESSERA_F32, 16, 8192, 8192), h100()).tile.m == 16);
  CHECK(choose(problem(TESSERA_F32, 8192, 16, 8192), h100()).tile.n == 16);
}

TEST_CASE("multistage transposes op(B) before where it transposes both operands, within the limit and where it pays") {
  const auto transposed = [](GemmProblem p, bool trans_a, bool trans_b, std::uint64_t limit) {
    p.trans_a = trans_a, p.trans_b = trans_b;
    const MultistageConfig config = choose(p, h100(), limit);
    REQUIRE(multistage_workspace(p, h100(), config) <= limit);
    REQUIRE((config.transpose == 0 || config.transpose == multistage_most_transposed(p, config.tile, limit)));
    return config.transpose;
  };
  const auto f32 = problem(TESSERA_F32, 4096, 4096, 4096), wide = problem(TESSERA_F32, 8192, 10000, 8192);
  CHECK(transposed(f32, false, true, kLimit) == 4096);
  CHECK(transposed(wide, false, true, kLimit) == 2048);  // 79 tiles of 128 in 5 chunks
  CHECK(transposed(problem(TESSERA_F32, 8192, 10000, 8192, 3), false, true, kLimit) == 2048);
  CHECK(transposed(f32, false, false, kLimit) == 0);
  CHECK(transposed(f32, true, true, kLimit) == 0);
  CHECK(transposed(problem(TESSERA_F64, 4096, 4096, 4096), false, true, kLimit) == 0);
  CHECK(transposed(f32, false, true, 0) == 0);
  auto deep = f32;
  deep.k = std::int64_t{1} << 55, deep.trans_b = true;  // the bytes of 128 columns overflow 64 bits
  CHECK(multistage_most_transposed(deep, choose(f32, h100()).tile, kLimit) == 0);
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
      for (const MultistageTile& tile : multistage_tiles(p, h100())) {
        few_columns += tile.n == 16, few_rows += tile.m == 16;
        CHECK(multistage_transposes_a(p, tile) == (!trans_a && tile.n != 16));
        CHECK(multistage_transposes_b(p, tile) == (trans_b && tile.m != 16));
        CHECK(tile.k_major == ((tile.n == 16 && !trans_a) || (tile.m == 16 && trans_b)));
      }
      CHECK(few_columns == 1);
      CHECK(few_rows == 1);
      p.dtype = TESSERA_F64;
      for (const MultistageTile& tile : multistage_tiles(p, h100()))
        CHECK((!multistage_transposes_a(p, tile) && !multistage_transposes_b(p, tile)));
    }
}

TEST_CASE("one or two rows or columns are for skinny, batches of small matrices for small") {
  auto columns = problem(TESSERA_F32, 8192, 1, 8192);
  CHECK(choice(columns, h100()) == "skinny");  // its long operand is K-major
  columns.dtype = TESSERA_F64;
  CHECK(choice(columns, h100()) == "skinny");
  CHECK(choice(problem(TESSERA_F32, 16, 8192, 8192), h100()) == "multistage");
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
    for (const std::int64_t n : {4, 8, 16}) CHECK(choice(problem(dtype, n, n, n, 10000), h100()) == "small");
  CHECK(choice(problem(TESSERA_F32, 32, 32, 32, 10000), h100()) == "small");
  CHECK(choice(problem(TESSERA_F64, 32, 32, 32, 10000), h100()) == "multistage");
  for (const tessera_dtype dtype : {TESSERA_F64, TESSERA_F32, TESSERA_F16, TESSERA_BF16})
    for (const std::int64_t n : {1, 30, 1000, 20000}) CHECK(choice(problem(dtype, 500, n, 0), h100()) == "elementwise");
}

TEST_CASE("skinny's time knows narrow reads, and blocks that come in waves") {
  const auto seconds = [](const GemmProblem& p) {
    return ask(skinny_offers, p, h100(), kLimit, given({{"split", 1}})).cheapest().seconds;
  };
  // Rows of 714 allow reads of one element only, and take four times as many blocks.
  const auto unaligned = problem(TESSERA_F32, 1, 714, 16, 272), aligned = problem(TESSERA_F32, 1, 716, 16, 272);
  CHECK(seconds(unaligned) > 1.2 * seconds(aligned));
  // Registers of a multiprocessor have room for four such blocks, which wait for their reads.
  const auto batch = [](std::int64_t count) { return problem(TESSERA_F64, 2, 4, 3304, count); };
  CHECK(seconds(batch(528)) < 1.05 * seconds(batch(480)));
  CHECK(seconds(batch(529)) > 1.4 * seconds(batch(528)));
  const auto rows = [](std::int64_t blocks) { return test::product(TESSERA_F64, 16, 32 * blocks, 96, 1, false, true); };
  CHECK(seconds(rows(132)) < 1.05 * seconds(rows(66)));
  CHECK(seconds(rows(133)) > 1.5 * seconds(rows(132)));
}

TEST_CASE("large products of f32 are warpgroups' where that is permitted, on Hopper") {
  auto p = problem(TESSERA_F32, 4096, 4096, 4096), small = problem(TESSERA_F32, 64, 64, 64);
  CHECK(choice(p, h100()) == "multistage");
  for (const tessera_compute compute : {TESSERA_COMPUTE_BF16X6, TESSERA_COMPUTE_F16X3, TESSERA_COMPUTE_TF32}) {
    p.compute = small.compute = compute;
    const auto offers = compute == TESSERA_COMPUTE_TF32 ? warpgroup_offers : warpgroup_f32_offers;
    CHECK(choice(p, h100()) == (compute == TESSERA_COMPUTE_TF32 ? "warpgroup" : "warpgroup_f32"));
    const auto cheapest = ask(offers, p, h100(), 1 << 30).cheapest().parameters;
    CHECK(cheapest.at("compute") == compute);
    if (compute == TESSERA_COMPUTE_BF16X6) CHECK(cheapest.at("tile_n") == 128);  // 1147 us; 64 columns 1310
    // In tf32 all take some 4.5 us.
    if (compute != TESSERA_COMPUTE_TF32) CHECK_FALSE(choice(small, h100()).starts_with("warpgroup"));
    CHECK_FALSE(choice(p, a100()).starts_with("warpgroup"));
  }
}

TEST_CASE("warpgroup offers no cluster, tail or workspace that a limit of multiprocessors forbids") {
  auto p = problem(TESSERA_BF16, 4096, 4096, 4096);
  for (const int limit : {1, 3, 7, 100}) {
    CAPTURE(limit);
    p.multiprocessors = limit;
    const auto offers = ask(warpgroup_offers, p, h100(), 1 << 30);
    REQUIRE_FALSE(offers.all().empty());
    for (const auto& offer : offers.all()) {
      const auto at = [&](const char* key) { return offer.parameters.at(key); };
      CHECK(at("cluster_m") * at("cluster_n") * at("cluster_k") <= limit);
      CHECK(at("tail") == 1);
      CHECK(offer.workspace_bytes == 0);
    }
  }
}

TEST_CASE("a machine that nobody measured has rates by its properties") {
  const Machine measured = h100(), other = a100();
  CHECK(other.memory_rate / measured.memory_rate == 1.215 / 2.619);
  CHECK(other.units.fma_f32 == 64);
  // Half the clock: what computes takes twice as long.
  DeviceProperties slow = kH100;
  slow.clock_hz /= 2.0;
  const auto p = problem(TESSERA_F64, 4096, 4096, 4096);
  const double ratio = ask(multistage_offers, p, machine_of(slow)).cheapest().seconds /
                       ask(multistage_offers, p, measured).cheapest().seconds;
  CHECK(ratio > 1.9);
  CHECK(ratio <= 2.0);
  DeviceProperties silent = kH100;  // a driver that does not tell its clocks
  silent.clock_hz = silent.memory_clock_hz = 0.0;
  CHECK(machine_of(silent).clock_hz == kH100.clock_hz);
  CHECK(machine_of(silent).memory_rate == measured.memory_rate);
}
