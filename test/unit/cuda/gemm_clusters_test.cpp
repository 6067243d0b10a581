// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// When clusters add slices of products, when the device is asked for clusters at all, and which tiles warpgroup tries.

#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <warpgroup/warpgroup.hpp>

#include <algorithm>
#include <cstdint>

namespace tessera::test {

/// A plugin built for sm_80 alone runs on Hopper, too.
TEST_CASE("a device that runs code for older ones is asked for no clusters") {
  auto machine = h100();
  machine.count_clusters = [](int) -> const cuda::ClusterRoom& {
    static const cuda::ClusterRoom kNone{};
    return kNone;
  };
  CHECK_FALSE(machine.clusters());
  const auto p = product(TESSERA_F32, 128, 128, 2048);
  const auto most_slices = [&](const cuda::Machine& on) {  // without a workspace: in clusters
    std::int64_t most = 0;
    const auto offers = ask(cuda::multistage_offers, p, on, 0);
    for (const plugin::Offer& offer : offers.all()) most = std::max(most, offer.parameters.at("split"));
    return most;
  };
  CHECK(most_slices(h100()) > 1);
  CHECK(most_slices(machine) == 1);
}

/// The question makes a context on the device, which a program that computes little elsewhere does not want.
TEST_CASE("small products ask for no room for clusters") {
  static bool asked = false;
  auto machine = h100();
  machine.count_clusters = [](int) -> const cuda::ClusterRoom& {
    static const cuda::ClusterRoom kNone{};
    asked = true;
    return kNone;
  };
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
    choice(product(dtype, 16, 16, 16), machine);
    CHECK_FALSE(cuda::chains_why_unsupported(product(dtype, 4, 16, 16), machine).empty());
  }
  CHECK_FALSE(asked);
  choice(product(TESSERA_F32, 128, 128, 65536), machine);
  CHECK(asked);
}

TEST_CASE("warpgroup tries tiles that just fill several waves") {
  // 13 x 40 tiles are 520 of the 528 of four waves.
  const auto p = product(TESSERA_BF16, 2048, 5120, 5120, 1, false, true);
  const auto cheapest = ask(cuda::warpgroup_offers, p, h100(), kLimit, given({{"tile_n", 128}})).cheapest();
  CHECK(cheapest.parameters.at("tile_m") == 160);
}

TEST_CASE("warpgroup computes D of 16 bits as it lies where its kernels can") {
  const auto offers = [](const plugin::GemmProblem& p, const char* key, std::int64_t value) {
    return ask(cuda::warpgroup_offers, p, h100(), kLimit, given({{key, value}})).all();
  };
  const auto p = product(TESSERA_BF16, 256, 9216, 3072, 1, false, true);
  for (const auto& one : {p, product(TESSERA_F16, 200, 264, 104, 3, true, true, 8)}) {
    REQUIRE_FALSE(offers(one, "turned", 0).empty());
    for (const auto& [parameters, seconds, workspace_bytes] : offers(one, "turned", 0)) {
      CHECK((parameters.at("turned") == 0 && parameters.at("tile_m") % 64 == 0 && workspace_bytes == 0));
      CHECK(cuda::warpgroup_parameters(one, cuda::warpgroup_config(one, parameters)).text() == parameters.text());
    }
  }
  CHECK(ask(cuda::warpgroup_offers, p, h100()).cheapest().parameters.text().starts_with(":tile_m=128,tile_n=144"));
  auto wide = p;
  wide.dtype_d = TESSERA_F32;
  const auto nt = [](std::int64_t n, std::int64_t k) { return product(TESSERA_BF16, 64, n, k, 1, false, true); };
  for (const auto& other : {wide, product(TESSERA_BF16, 256, 9216, 3072), nt(100, 64), nt(64, 100)})
    CHECK_THROWS_AS(offers(other, "turned", 0), plugin::Error);
  // Tiles are of turned products, unless the caller says otherwise.
  for (const auto& offer : offers(p, "tile_m", 128)) CHECK(offer.parameters.at("turned") == 1);
  CHECK_THROWS_AS(offers(p, "tile_n", 144), plugin::Error);
}

}  // namespace tessera::test
