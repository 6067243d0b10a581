// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Slices of the ordered sums of products: of which length they are, whatever cuts them.
#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <bf16_parts.hpp>
#include <multistage/multistage.hpp>
#include <ordered_chains.hpp>
#include <skinny_parts/skinny_parts.hpp>
#include <tessera/plugin/math.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;
using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using plugin::ceil_div;

namespace {

struct Algorithm {
  std::string name;
  GemmWhyUnsupported* why_unsupported;
  GemmOffers* offers;
};
const Algorithm kMultistage{"multistage", multistage_why_unsupported, multistage_offers},
    kWarpgroup{"warpgroup", warpgroup_why_unsupported, warpgroup_offers},
    kWarpgroupF32{"warpgroup_f32", warpgroup_f32_why_unsupported, warpgroup_f32_offers},
    kChains{"chains", chains_why_unsupported, chains_offers},
    kSkinnyParts{"skinny_parts", skinny_parts_why_unsupported, skinny_parts_offers};

/// Into how many slices k is cut.
std::int64_t slices_of(const plugin::GemmProblem& p, const std::string& algorithm, const plugin::Parameters& taken) {
  if (algorithm == "chains") {
    CHECK(ordered_chains(p, h100()) % taken.at("cluster") == 0);  // whose blocks have as many warps each
    return ordered_chains(p, h100());
  }
  if (algorithm == "multistage" && multistage_config(p, h100(), taken).tile.folds) return ordered_chains(p, h100());
  const std::int64_t split = taken.at("split");
  if (algorithm == "skinny_parts") return ceil_div(p.k, skinny_parts_slice(p, skinny_parts_config(p, taken)));
  return algorithm == "warpgroup_f32" && split == 1 ? ordered_parts_slices(p) : split;  // one after another
}

struct Kind {
  tessera_dtype dtype;
  tessera_compute compute;
  std::vector<Algorithm> algorithms;
};

/// Adds those of all offers for so many rows.
void add_slices(const Kind& kind, plugin::GemmProblem p, std::int64_t rows, std::set<std::int64_t>& slices) {
  (p.by_columns ? p.n : p.m) = rows;
  p.lda = p.k, p.ldb = p.ldc = p.ldd = p.n;
  bool offered = false;
  for (const Algorithm& algorithm : kind.algorithms) {
    if (!algorithm.why_unsupported(p, h100()).empty()) continue;
    plugin::OfferList offers;
    algorithm.offers(p, h100(), {}, std::uint64_t{1} << 32, offers);
    for (const plugin::Offer& offer : offers.all()) slices.insert(slices_of(p, algorithm.name, offer.parameters));
    offered |= !offers.empty();
  }
  REQUIRE(offered);
}

}  // namespace

TEST_CASE("ordered sums of products have one number of slices for any number of rows") {
  for (const Kind& kind :
       {Kind{TESSERA_F32, TESSERA_COMPUTE_STRICT, {kChains, kMultistage}},
        Kind{TESSERA_F64, TESSERA_COMPUTE_STRICT, {kChains, kMultistage}},
        Kind{TESSERA_BF16, TESSERA_COMPUTE_STRICT, {kWarpgroup}}, Kind{TESSERA_F32, TESSERA_COMPUTE_TF32, {kWarpgroup}},
        Kind{TESSERA_F32, TESSERA_COMPUTE_BF16X6, {kSkinnyParts, kWarpgroupF32}},
        Kind{TESSERA_F32, TESSERA_COMPUTE_F16X3, {kWarpgroupF32}}})
    for (const bool by_columns : {false, true})
      for (const auto& [n, k] :
           {std::pair<std::int64_t, std::int64_t>{4096, 4096}, {256, 6144}, {1000, 1001}, {8, 40}}) {
        CAPTURE(name_of(kind.dtype), kind.compute, by_columns, n, k);
        auto p = test::product(kind.dtype, n, n, k);
        p.compute = kind.compute, p.ordered = true, p.by_columns = by_columns;
        std::set<std::int64_t> slices;
        for (const std::int64_t rows : {1, 2, 17, 64, 300, 4096}) add_slices(kind, p, rows, slices);
        p.whole_n = n, (by_columns ? p.m : p.n) = 1 + n / 5;  // some of its columns
        for (const std::int64_t rows : {1, 300}) add_slices(kind, p, rows, slices);
        CHECK(slices.size() == 1);
      }
}

TEST_CASE("a split that is given is that of the tiles whose blocks have the slices then") {
  auto p = test::product(TESSERA_F32, 64, 1024, 1024);
  p.compute = TESSERA_COMPUTE_BF16X6, p.ordered = true;
  for (const auto& [split, tile] : {std::pair<std::int64_t, std::int64_t>{2, 32}, {4, 64}}) {
    plugin::OfferList offers;
    skinny_parts_offers(p, h100(), given({{"split", split}}), 0, offers);
    REQUIRE(!offers.empty());
    for (const plugin::Offer& offer : offers.all()) CHECK((offer.parameters.at("tile") == 64) == (tile == 64));
  }
}

TEST_CASE("the slices of f64 are a cluster's blocks or one block's, as the split that is given tells") {
  auto p = test::product(TESSERA_F64, 1024, 4096, 4096);
  p.ordered = true;
  for (const std::int64_t split : {1, 4}) {
    plugin::OfferList offers;
    multistage_offers(p, h100(), given({{"split", split}}), 0, offers);
    REQUIRE(!offers.empty());
    for (const plugin::Offer& offer : offers.all())
      CHECK(multistage_config(p, h100(), offer.parameters).tile.folds == (split == 1));
  }
  plugin::OfferList offers;
  CHECK_THROWS_WITH(multistage_offers(p, h100(), given({{"split", 2}}), 0, offers), ContainsSubstring("one of 1, 4"));
}
