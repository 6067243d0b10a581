// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// What every algorithm that the CUDA plugin has offers on an H100: asked of the plugin's own objects, without a device.
#include "../problems.hpp"

#include <tessera/tessera.h>
#include <context.hpp>
#include <gemm/offers.hpp>
#include <gemm/warpgroup/warpgroup.hpp>
#include <tessera/boundary.hpp>
#include <tessera/plugin/plugin.hpp>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

/// From 1 to 2^`most`, small ones as often as large ones.
std::int64_t random_size(std::mt19937_64& random, double most) {
  return std::int64_t(std::exp2(std::uniform_real_distribution<double>(0.0, most)(random)));
}

/// Something different and possible from every algorithm that supports the problem.
template <class Problem>
void check_offers(const Problem& problem, const Machine& machine, std::uint64_t limit, bool limited) {
  for (const auto& algorithm : plugin::Register<Context, Problem>::all()) {
    CAPTURE(algorithm.name);
    if (!algorithm.why_not(problem, machine).empty()) continue;
    plugin::OfferList offers;
    algorithm.offers(problem, machine, {}, limit, offers);
    // Without a workspace skinny has no place for sums that wait for a bias or an activation, warpgroup none for
    // copies, warpgroup_f32 none for parts.
    const std::string name = algorithm.name;
    const bool needs_room = name == "skinny" || name.starts_with("warpgroup");
    REQUIRE((!offers.empty() || (limited && limit == 0 && needs_room)));
    std::set<std::string> different;
    for (const plugin::Offer& offer : offers.all()) {
      CAPTURE(offer.parameters.text());
      REQUIRE(offer.seconds > 0.0);
      REQUIRE((!limited || offer.workspace_bytes <= limit));
      REQUIRE(different.insert(offer.parameters.text()).second);
    }
  }
}

template <class Problem>
void print_names(const char* what) {
  std::cout << what << ":";
  for (const auto& algorithm : plugin::Register<Context, Problem>::all()) std::cout << " " << algorithm.name;
  std::cout << "\n";
}

}  // namespace

TEST_CASE("the plugin has algorithms") {
  print_names<plugin::GemmProblem>("products");
  print_names<plugin::StencilProblem>("stencils");
  CHECK(plugin::Register<Context, plugin::GemmProblem>::all().begin() !=
        plugin::Register<Context, plugin::GemmProblem>::all().end());
  CHECK(plugin::Register<Context, plugin::StencilProblem>::all().begin() !=
        plugin::Register<Context, plugin::StencilProblem>::all().end());
}

TEST_CASE("every algorithm offers something for every product that it supports, within the limit") {
  const Machine machine = machine_of(kH100);
  std::mt19937_64 random(Catch::getSeed());
  for (const DType dtype : kDTypes)
    for (int i = 0; i < 100; ++i) {
      const auto size = [&] { return random_size(random, 13.0); };
      auto p = test::product(tessera_dtype(dtype), size(), size(), size(), i % 4 == 0 ? size() : 1, i % 2 == 1,
                             i % 3 == 1, i % 5 == 2 ? 3 : 0);
      if (size_of(dtype) == 2 && i % 3 == 0) p.dtype_d = TESSERA_F32;
      if (i % 7 < 3) p.bias = i % 7, p.dtype_bias = p.dtype_d, p.activation = i % 6;
      if (size_of(dtype) == 4 && i % 5 > 0) p.compute = i % 5;
      const std::uint64_t limit = i % 5 == 0 ? 0 : TESSERA_DEFAULT_WORKSPACE_LIMIT;
      CAPTURE(name_of(dtype), p.m, p.n, p.k, p.batch, limit, p.bias, p.activation, p.compute);
      check_offers(p, machine, limit, true);
    }
}

TEST_CASE("every algorithm of products takes every type, bias and activation") {
  const Machine machine = machine_of(kH100);
  for (const DType dtype : kDTypes) {
    auto p = test::product(tessera_dtype(dtype), 16, 16, 16);
    p.bias = TESSERA_BIAS_PER_ROW, p.dtype_bias = p.dtype_d, p.activation = TESSERA_ACTIVATION_GELU;
    for (const auto& algorithm : plugin::Register<Context, plugin::GemmProblem>::all()) {
      CAPTURE(algorithm.name, name_of(dtype));
      if (std::string(algorithm.name) == "warpgroup" && size_of(dtype) == 8)
        CHECK(algorithm.why_not(p, machine) == "it is for f16, bf16 and f32 in tf32");
      else if (std::string(algorithm.name) == "warpgroup" && size_of(dtype) == 4)
        CHECK(algorithm.why_not(p, machine) == "it computes f32 in tf32, which the product does not permit");
      else if (std::string(algorithm.name) == "warpgroup_f32" || std::string(algorithm.name) == "skinny_parts")
        CHECK_FALSE(algorithm.why_not(p, machine).empty());  // none of them is permitted here
      else if (std::string(algorithm.name) == "chains")
        CHECK(algorithm.why_not(p, machine) == (size_of(dtype) == 2
                                                    ? std::string("takes f32 and f64, not ") + name_of(dtype)
                                                    : "D has more than 8 rows and columns: 16 x 16"));
      else if (std::string(algorithm.name) == "elementwise")
        CHECK(algorithm.why_not(p, machine) == "it is for k = 0, the product has k = 16");
      else if (std::string(algorithm.name) == "triangles")
        CHECK(algorithm.why_not(p, machine) == "it is for triangles of D");
      else if (std::string(algorithm.name) == "doubled")
        CHECK(algorithm.why_not(p, machine) == "takes no bias and no activation");
      else
        CHECK(algorithm.why_not(p, machine) == "");
    }
  }
}

TEST_CASE("tf32 is offered where it is permitted alone, and every offer says so") {
  const Machine machine = machine_of(kH100);
  auto p = test::product(TESSERA_F32, 4096, 4096, 4096);
  for (const auto& algorithm : plugin::Register<Context, plugin::GemmProblem>::all()) {
    CAPTURE(algorithm.name);
    for (const tessera_compute compute : {TESSERA_COMPUTE_STRICT, TESSERA_COMPUTE_TF32}) {
      p.compute = compute;
      if (!algorithm.why_not(p, machine).empty()) continue;
      plugin::OfferList offers;
      algorithm.offers(p, machine, {}, TESSERA_DEFAULT_WORKSPACE_LIMIT, offers);
      const std::string cheapest = offers.cheapest().parameters.text();
      if (compute == TESSERA_COMPUTE_STRICT) CHECK(cheapest.find("compute") == std::string::npos);
      const std::string name = algorithm.name;
      if (compute == TESSERA_COMPUTE_TF32 && (name == "multistage" || name == "warpgroup"))
        CHECK(cheapest.find("compute=4") != std::string::npos);
    }
  }
}

/// Those that keep the order that tessera_sums promises.
TEST_CASE("ordered sums of products have one family of algorithms, whatever rows there are") {
  const Machine machine = machine_of(kH100);
  using Kind = std::tuple<tessera_dtype, tessera_compute, std::set<std::string>>;
  for (const auto& [dtype, compute, algorithms] :
       {Kind{TESSERA_F32, TESSERA_COMPUTE_STRICT, {"chains", "multistage"}},
        Kind{TESSERA_F64, TESSERA_COMPUTE_STRICT, {"chains", "multistage"}},
        Kind{TESSERA_BF16, TESSERA_COMPUTE_STRICT, {"warpgroup"}},
        Kind{TESSERA_F32, TESSERA_COMPUTE_TF32, {"warpgroup"}},
        Kind{TESSERA_F32, TESSERA_COMPUTE_BF16X6, {"skinny_parts", "warpgroup_f32"}},
        Kind{TESSERA_F32, TESSERA_COMPUTE_F16X3, {"warpgroup_f32"}}}) {
    std::set<std::string> found;
    for (const bool by_columns : {false, true})
      for (const auto& [n, k] : {std::pair{4096, 4096}, {256, 6144}, {1000, 1001}, {8, 40}})
        for (const std::int64_t rows : {1, 2, 17, 64, 300, 4096}) {
          auto p = by_columns ? test::product(dtype, n, rows, k) : test::product(dtype, rows, n, k);
          p.compute = compute, p.ordered = true, p.by_columns = by_columns;
          bool any = false;
          for (const auto& algorithm : plugin::Register<Context, plugin::GemmProblem>::all())
            if (algorithm.why_not(p, machine).empty()) found.insert(algorithm.name), any = true;
          CHECK(any);
        }
    CHECK(found == algorithms);
  }
}

TEST_CASE("warpgroup_f32 offers what is permitted, and says why it cannot") {
  const Machine machine = machine_of(kH100);
  auto p = test::product(TESSERA_F32, 1000, 1000, 1000);
  CHECK(warpgroup_f32_why_unsupported(p, machine).find("permits strict alone") != std::string::npos);
  const auto offered = [&](tessera_compute compute) {
    p.compute = compute;
    plugin::OfferList offers;
    warpgroup_f32_offers(p, machine, {}, TESSERA_DEFAULT_WORKSPACE_LIMIT, offers);
    std::set<std::int64_t> modes;
    for (const plugin::Offer& offer : offers.all()) modes.insert(offer.parameters.at("compute"));
    return modes;
  };
  CHECK(offered(TESSERA_COMPUTE_BF16X6) == std::set<std::int64_t>{TESSERA_COMPUTE_BF16X6});
  CHECK(offered(TESSERA_COMPUTE_F16X3) == std::set<std::int64_t>{TESSERA_COMPUTE_BF16X6, TESSERA_COMPUTE_F16X3});
  CHECK(offered(TESSERA_COMPUTE_TF32) == std::set<std::int64_t>{TESSERA_COMPUTE_BF16X6});
  // Without room for all parts there are panels.
  p.m = p.n = p.k = 8192;
  plugin::OfferList offers(true);
  warpgroup_f32_offers(p, machine, {}, TESSERA_DEFAULT_WORKSPACE_LIMIT, offers);
  CHECK(offers.cheapest().parameters.at("panel_k") > 0);
  CHECK(offers.cheapest().workspace_bytes <= TESSERA_DEFAULT_WORKSPACE_LIMIT);
  DeviceProperties ampere = kH100;
  ampere.major = 8;
  CHECK(warpgroup_f32_why_unsupported(p, machine_of(ampere)).find("9.0") != std::string::npos);
}

/// In tf32 its instruction reads B from shared memory where it is K-major alone. A K-major operand is B, if need be of
/// the turned product; where there is none, the smaller one is transposed.
TEST_CASE("warpgroup turns products of f32, and transposes an operand where both are not K-major") {
  struct Case {
    std::int64_t m;
    bool trans_a, trans_b, turned, transposes;
  };
  for (const Case& c :
       {Case{900, false, false, true, false}, Case{900, false, true, false, false}, Case{900, true, true, false, false},
        Case{900, true, false, true, true}, Case{1100, true, false, false, true}}) {
    CAPTURE(c.m, c.trans_a, c.trans_b);
    auto p = test::product(TESSERA_F32, c.m, 1000, 500, 1, c.trans_a, c.trans_b);
    p.compute = TESSERA_COMPUTE_TF32, p.bias = TESSERA_BIAS_PER_ROW;
    const auto product = warpgroup_product(p, warpgroup_turns(p));
    CHECK(warpgroup_turns(p) == c.turned);
    CHECK(product.m == (c.turned ? p.n : p.m));
    CHECK(product.bias == (c.turned ? TESSERA_BIAS_PER_COLUMN : TESSERA_BIAS_PER_ROW));
    CHECK(warpgroup_transposes_b(product) == c.transposes);
    p.dtype = p.dtype_d = TESSERA_BF16;
    CHECK(warpgroup_turns(p));
    CHECK_FALSE(warpgroup_transposes_b(warpgroup_product(p, true)));
  }
}

TEST_CASE("every algorithm offers something for every stencil that it supports") {
  const Machine machine = machine_of(kH100);
  std::mt19937_64 random(Catch::getSeed());
  for (const auto& algorithm : plugin::Register<Context, plugin::StencilProblem>::all()) {
    CAPTURE(algorithm.name);
    const std::string name = algorithm.name;
    CHECK(algorithm.features.narrow == (name != "marching" && name != "register_tile"));  // of f32 and f64
    CHECK(algorithm.features.ordered == (name != "marching" && name != "separable"));
  }
  for (const DType dtype : kDTypes)
    for (int i = 0; i < 100; ++i) {
      const int rank = 1 + i % 3, radius = 1 + i / 3 % 4;
      std::vector<std::int64_t> extents;
      for (int axis = 0; axis < rank; ++axis) extents.push_back(random_size(random, 24.0 / rank));
      const auto mode = tessera_boundary(kBoundaries[std::size_t(i) % std::size(kBoundaries)]);
      const std::int64_t steps = mode == TESSERA_BOUNDARY_HALO ? 1 : random_size(random, 8.0);
      CAPTURE(name_of(dtype), extents, radius, mode, steps);
      check_offers(
          test::packed_stencil(tessera_dtype(dtype), extents, test::neighbours(rank, radius, i % 2 == 0), mode, steps),
          machine, 0, false);
    }
}
