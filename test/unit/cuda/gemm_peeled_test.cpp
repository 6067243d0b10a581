// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the CUDA backend's algorithm peeled takes products apart, tested without a device.
#include "../problems.hpp"
#include "gemm_offers.hpp"

#include <peeled.hpp>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <random>

using namespace tessera;
using namespace tessera::cuda;
using namespace tessera::test;

TEST_CASE("rows and columns beyond whole tiles are computed apart where that saves waves of blocks") {
  const tessera_dtype dtype = GENERATE(tessera_dtype{TESSERA_F32}, tessera_dtype{TESSERA_F64});
  CHECK(choice(product(dtype, 4097, 4097, 4097), h100()) == "peeled");
  CHECK(choice(product(dtype, 4096, 4096, 4096), h100()) == "multistage");
  CHECK(choice(product(dtype, 4095, 4095, 4095), h100()) == "multistage");  // the last tiles are nearly full
  CHECK(choice(product(dtype, 129, 129, 129), h100()) != "peeled");         // a few blocks
  // Whatever is offered is beyond whole tiles; its parts cover C, and those of the same limit are the same.
  std::mt19937_64 random(Catch::getSeed());
  std::uniform_int_distribution<std::int64_t> size(1, 9000);
  for (int i = 0; i < 50; ++i) {
    const auto p = product(dtype, size(random), size(random), size(random));
    CAPTURE(p.m, p.n, p.k, dtype);
    const auto offers = ask(peeled_offers, p, h100());
    for (const plugin::Offer& offer : offers.all()) {
      const std::int64_t rows = offer.parameters.at("rows"), columns = offer.parameters.at("columns");
      CHECK((rows == 0 || (rows == p.m % 128 && rows <= kMostPeeled && rows < p.m)));
      CHECK((columns == 0 || (columns == p.n % 128 && columns <= kMostPeeled && columns < p.n)));
      const auto parts = peeled_parts(p, h100(), {rows, columns}, std::uint64_t(offer.parameters.at("workspace")));
      CHECK(peeled_workspace(parts) == offer.workspace_bytes);
      std::int64_t elements = 0;
      double seconds = 0.0;
      for (const PeeledPart& part : parts) elements += part.problem.m * part.problem.n, seconds += part.offer.seconds;
      CHECK(elements == p.m * p.n);
      CHECK(seconds <= offer.seconds);
    }
  }
}

TEST_CASE("edges whose sums have no place to wait for a bias are products of multistage") {
  auto p = product(TESSERA_F32, 1, 257, 64);
  p.bias = TESSERA_BIAS_PER_ROW, p.dtype_bias = p.dtype_d, p.activation = TESSERA_ACTIVATION_RELU;
  for (const std::int64_t workspace : {0, 3, 4, 1 << 20}) {
    const auto offers = ask(peeled_offers, p, h100(), kLimit, given({{"columns", 1}, {"workspace", workspace}}));
    REQUIRE(offers.all().size() == 1);
    CHECK(offers.cheapest().workspace_bytes <= std::uint64_t(workspace));
    const auto parts = peeled_parts(p, h100(), {0, 1}, std::uint64_t(workspace));
    REQUIRE(parts.size() == 2);
    CHECK(parts[1].skinny == (workspace >= 4));  // the sum of one element
  }
}
