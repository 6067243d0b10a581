// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// When products are cut into slices that clusters add, and when the device is asked for clusters at all.

#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <catch2/catch_test_macros.hpp>

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
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) choice(product(dtype, 16, 16, 16), machine);
  CHECK_FALSE(asked);
  choice(product(TESSERA_F32, 128, 128, 65536), machine);
  CHECK(asked);
}

}  // namespace tessera::test
