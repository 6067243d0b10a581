// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// What the CPU backend offers and would choose: pure functions of a problem and a machine.
#include "../baseline.hpp"
#include "offers.hpp"

#include <stencil/model.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::test;

namespace {

/// A cube of radius 1, fixed sides.
plugin::StencilProblem cube(std::int64_t n, bool box, tessera_dtype dtype, std::int64_t steps) {
  return packed_stencil(dtype, 3, n, neighbours(3, 1, box), TESSERA_BOUNDARY_FIXED, steps);
}

template <class Problem>
std::string choice(const Problem& problem, const Machine& machine) {
  return cheapest_offers(problem, machine).front().algorithm;
}

/// The threads of every offer that can tell.
template <class Problem>
void check_threads(const Problem& problem, const Machine& machine, std::int64_t threads) {
  for (const auto& [algorithm, offer] : cheapest_offers(problem, machine))
    if (algorithm != "reference") {
      INFO(algorithm << offer.parameters.text());
      CHECK(offer.parameters.at("threads") == threads);
    }
}

}  // namespace

TEST_CASE("the machine's number of threads reaches every offer") {
  for (const int threads : {1, 2, 16}) {
    for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
      check_threads(product(dtype, 2048, 2048, 2048), xeon(threads), threads);
      check_threads(cube(384, false, dtype, 20), xeon(threads), threads);
      check_threads(product(dtype, 16, 16, 16), xeon(threads), 1);
      check_threads(cube(10, false, dtype, 20), xeon(threads), 1);
    }
  }
}

TEST_CASE("more threads take less time for large problems") {
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
    const auto seconds = [](const auto& problem, int threads) {
      return cheapest_offers(problem, xeon(threads)).front().offer.seconds;
    };
    const auto large = product(dtype, 2048, 2048, 2048);
    CHECK(seconds(large, 16) < 0.2 * seconds(large, 1));
    const auto field = cube(512, false, dtype, 1);
    CHECK(seconds(field, 16) < 0.2 * seconds(field, 1));
  }
}

TEST_CASE("offers stay within the workspace that they are given") {
  const plugin::GemmProblem deep = product(TESSERA_F32, 128, 128, 65536);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{100000}, std::uint64_t{1} << 20, UINT64_MAX})
    for (const auto& algorithm : plugin::Register<cpu::Context, plugin::GemmProblem>::all()) {
      const bool others = algorithm.features.triangle || algorithm.features.complex;  // it is for
      if (others && !algorithm.why_not(deep, xeon(16)).empty()) continue;
      plugin::OfferList offers;
      algorithm.offers(deep, xeon(16), {}, limit, offers);
      CHECK_FALSE(offers.empty());
      for (const plugin::Offer& offer : offers.all()) CHECK(offer.workspace_bytes <= limit);
    }
}

TEST_CASE("few rows of C leave B where it is, many with a power of two between rows of B do not") {
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
    CHECK(choice(product(dtype, 1, 8192, 8192), xeon(2)) == "direct");
    CHECK(choice(product(dtype, 16, 2048, 2048), xeon(2)) == "direct");
    CHECK(choice(product(dtype, 64, 64, 64), xeon(2)) == "direct");
    for (const int threads : {1, 2, 16}) CHECK(choice(product(dtype, 2048, 2048, 2048), xeon(threads)) != "direct");
    CHECK(choice(product(dtype, 2048, 2048, 2048), xeon(16)) == "packed");
  }
}

TEST_CASE("bf16 takes dot products where the processor has them and they are faster") {
  const auto taken = [](tessera_dtype dtype, Machine machine) {
    for (const auto& [algorithm, offer] : cheapest_offers(product(dtype, 1024, 1024, 1024), machine))
      if (algorithm == "packed") return offer.parameters.text();
    return std::string();
  };
  const auto has = [](const std::string& text, const char* entry) { return text.find(entry) != std::string::npos; };
  Machine slow = xeon(1), fast = xeon(1);
  slow.dot_products = fast.dot_products = true;
  fast.costs = with_fast_dot_products(fast.costs);
  CHECK(has(taken(TESSERA_BF16, xeon(1)), "dot=0"));
  CHECK(has(taken(TESSERA_BF16, slow), "dot=0"));
  CHECK(has(taken(TESSERA_BF16, fast), "dot=1"));
  for (const tessera_dtype dtype : {TESSERA_F16, TESSERA_F32, TESSERA_F64}) CHECK_FALSE(has(taken(dtype, fast), "dot"));
}

TEST_CASE("dot products are refused where the processor lacks them") {
  const tessera_parameter given{"dot", 1};
  Machine machine = xeon(1);
  const auto offer = [&](tessera_dtype dtype) {
    plugin::OfferList offers;
    for (const auto& algorithm : plugin::Register<cpu::Context, plugin::GemmProblem>::all())
      if (std::string(algorithm.name) == "packed") {
        const plugin::GivenParameters parameters(&given, sizeof given, 1);
        algorithm.offers(product(dtype, 64, 64, 64), machine, parameters, UINT64_MAX, offers);
        parameters.require_all_known(algorithm.name);
      }
    return offers.all().size();
  };
  CHECK_THROWS_WITH(offer(TESSERA_BF16), Catch::Matchers::ContainsSubstring("dot = 1"));
  CHECK_THROWS_WITH(offer(TESSERA_F16), Catch::Matchers::ContainsSubstring("no parameter dot"));
  machine.dot_products = true;
  CHECK(offer(TESSERA_BF16) == 1);
}

TEST_CASE("passes over volumes pay where threads share the memory and taps are few") {
  for (const std::int64_t n : {384, 512}) {
    CHECK(choice(cube(n, false, TESSERA_F32, 100), xeon(16)) == "temporal");
    for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
      for (const int threads : {1, 2}) {
        CHECK(choice(cube(n, false, dtype, 100), xeon(threads)) == "streaming");
        CHECK(choice(cube(n, true, dtype, 100), xeon(threads)) != "temporal");
      }
  }
  // Rows of seven lines: their ends take as long as they do.
  CHECK(choice(cube(100, false, TESSERA_F32, 100), xeon(1)) == "rows");
}

TEST_CASE("a tile fits in the cache that it is given") {
  constexpr std::int64_t kCacheBytes = std::int64_t(5) << 18;
  for (const bool box : {false, true})
    for (const std::int64_t n : {64, 100, 384, 1000}) {
      const StencilWork work(cube(n, box, TESSERA_F64, 100), kAvx512);
      for (const std::int64_t fused_steps : {2, 4, 8}) {
        const TemporalShape shape = fitting_shape(work.problem, fused_steps, 1024, work.block_rows, kCacheBytes);
        if (shape.tile > 0) CHECK(tile_layout(work.problem, shape, work.block_rows).elements() * 8 <= kCacheBytes);
      }
    }
}
