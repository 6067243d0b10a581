// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// What the CPU backend offers and would choose: pure functions of a problem and a machine.
#include <context.hpp>
#include <gemm/panels_layout.hpp>
#include <stencil/model.hpp>
#include <stencil/row_blocks.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::cpu;

namespace {

constexpr std::uint64_t kLimit = std::uint64_t(64) << 20;

/// The one of perf/baselines/xeon-*.json.
Machine xeon(int threads) { return {threads, {48 << 10, 2 << 20, 314572800, 16}, kAvx512, kAvx512Costs}; }

plugin::GemmProblem product(std::int64_t m, std::int64_t n, std::int64_t k, tessera_dtype dtype) {
  tessera_gemm_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_GEMM;
  desc.dtype = dtype;
  desc.compute = TESSERA_COMPUTE_STRICT;
  desc.m = m, desc.n = n, desc.k = k;
  desc.lda = k, desc.ldb = n, desc.ldc = n;
  desc.batch = 1;
  return plugin::GemmProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

/// A cube of radius 1, fixed sides.
plugin::StencilProblem cube(std::int64_t n, bool box, tessera_dtype dtype, std::int64_t steps) {
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = dtype;
  desc.compute = TESSERA_COMPUTE_STRICT;
  desc.rank = 3;
  desc.steps = steps;
  for (int axis = 0; axis < 3; ++axis) {
    desc.extents[axis] = n;
    desc.in_strides[axis] = desc.out_strides[axis] = axis == 0 ? n * n : axis == 1 ? n : 1;
    desc.boundary[axis][0] = desc.boundary[axis][1] = TESSERA_BOUNDARY_FIXED;
  }
  std::vector<tessera_tap> taps;
  for (std::int64_t i = -1; i <= 1; ++i)
    for (std::int64_t j = -1; j <= 1; ++j)
      for (std::int64_t k = -1; k <= 1; ++k)
        if (box || std::abs(i) + std::abs(j) + std::abs(k) <= 1) taps.push_back({{i, j, k}, 0.03});
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof taps[0];
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

struct Choice {
  std::string algorithm;
  plugin::Offer offer;
};

/// Everything that is offered, the cheapest first.
template <class Problem>
std::vector<Choice> offers_of(const Problem& problem, const Machine& machine) {
  std::vector<Choice> all;
  for (const auto& algorithm : plugin::Register<cpu::Context, Problem>::all()) {
    if (!algorithm.why_unsupported(problem, machine).empty()) continue;
    plugin::OfferList offers;
    algorithm.offers(problem, machine, {}, kLimit, offers);
    CHECK_FALSE(offers.empty());
    for (const plugin::Offer& offer : offers.all()) all.push_back({algorithm.name, offer});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Choice& a, const Choice& b) { return a.offer.seconds < b.offer.seconds; });
  return all;
}

template <class Problem>
std::string choice(const Problem& problem, const Machine& machine) {
  return offers_of(problem, machine).front().algorithm;
}

/// The threads of every offer that can tell.
template <class Problem>
void check_threads(const Problem& problem, const Machine& machine, std::int64_t threads) {
  for (const auto& [algorithm, offer] : offers_of(problem, machine))
    if (algorithm != "reference") {
      INFO(algorithm << offer.parameters.text());
      CHECK(offer.parameters.at("threads") == threads);
    }
}

}  // namespace

TEST_CASE("the machine's number of threads reaches every offer") {
  for (const int threads : {1, 2, 16}) {
    for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
      check_threads(product(2048, 2048, 2048, dtype), xeon(threads), threads);
      check_threads(cube(384, false, dtype, 20), xeon(threads), threads);
      check_threads(product(16, 16, 16, dtype), xeon(threads), 1);
      check_threads(cube(10, false, dtype, 20), xeon(threads), 1);
    }
  }
}

TEST_CASE("more threads take less time for large problems") {
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
    const auto seconds = [](const auto& problem, int threads) {
      return offers_of(problem, xeon(threads)).front().offer.seconds;
    };
    const auto large = product(2048, 2048, 2048, dtype);
    CHECK(seconds(large, 16) < 0.2 * seconds(large, 1));
    const auto field = cube(512, false, dtype, 1);
    CHECK(seconds(field, 16) < 0.2 * seconds(field, 1));
  }
}

TEST_CASE("offers stay within the workspace that they are given") {
  const plugin::GemmProblem deep = product(128, 128, 65536, TESSERA_F32);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{100000}, std::uint64_t{1} << 20, UINT64_MAX})
    for (const auto& algorithm : plugin::Register<cpu::Context, plugin::GemmProblem>::all()) {
      plugin::OfferList offers;
      algorithm.offers(deep, xeon(16), {}, limit, offers);
      CHECK_FALSE(offers.empty());
      for (const plugin::Offer& offer : offers.all()) CHECK(offer.workspace_bytes <= limit);
    }
}

TEST_CASE("few rows of C leave B where it is, many with a power of two between rows of B do not") {
  for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
    CHECK(choice(product(1, 8192, 8192, dtype), xeon(2)) == "direct");
    CHECK(choice(product(16, 2048, 2048, dtype), xeon(2)) == "direct");
    CHECK(choice(product(64, 64, 64, dtype), xeon(2)) == "direct");
    for (const int threads : {1, 2, 16}) CHECK(choice(product(2048, 2048, 2048, dtype), xeon(threads)) != "direct");
    CHECK(choice(product(2048, 2048, 2048, dtype), xeon(16)) == "packed");
  }
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
      const StencilWork work(cube(n, box, TESSERA_F64, 100));
      const int rows = block_rows(kAvx512, work.groups);
      for (const std::int64_t fused_steps : {2, 4, 8}) {
        const TemporalShape shape = fitting_shape(work.problem, fused_steps, 1024, rows, kCacheBytes);
        if (shape.tile > 0) CHECK(tile_layout(work.problem, shape, rows).elements() * 8 <= kCacheBytes);
      }
    }
}
