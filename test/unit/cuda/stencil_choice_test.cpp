// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Which stencil algorithm the CUDA backend chooses, and which lists of taps have kernels of their own: tested without a
// device.
#include "stencil_offers.hpp"

#include <separable/separable.hpp>

#include <stencil_cases.hpp>
#include <tap_shape.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;
using test::choice;

namespace {

constexpr auto kFixed = TESSERA_BOUNDARY_FIXED, kPeriodic = TESSERA_BOUNDARY_PERIODIC;
constexpr auto kF32 = TESSERA_F32, kF64 = TESSERA_F64, kF16 = TESSERA_F16, kBf16 = TESSERA_BF16;

plugin::StencilProblem problem(tessera_dtype dtype, const Taps& taps, tessera_boundary mode, std::int64_t side,
                               std::int64_t steps = 1) {
  std::vector<tessera_tap> list = test::listed(taps);
  std::reverse(list.begin(), list.end());  // order does not matter
  return test::packed_stencil(dtype, taps.rank(), side, list, mode, steps);
}

plugin::StencilProblem problem(const Taps& taps) {
  return problem(kF32, taps, kFixed, taps.rank() == 1 ? 1 << 22 : 2048);
}

template <TapPattern kPattern, int kRank, int kRadius>
bool is_shape(const Taps& taps) {
  using Shape = TapShape<kPattern, kRank, kRadius>;
  return with_shape<double>(TapShapes<Shape>{}, problem(taps), [](auto, const auto&) {});
}

constexpr auto kStar = TapPattern::star, kHollow = TapPattern::hollow_star, kBox = TapPattern::box;
constexpr auto kWeights = test::Weights::integer;

}  // namespace

TEST_CASE("a list of taps is a shape only if it is the shape exactly") {
  const Taps star = test::star(2, 2, kWeights), box = test::box(3, 1, kWeights);
  REQUIRE(is_shape<kStar, 2, 2>(star));
  REQUIRE(is_shape<kBox, 3, 1>(box));
  REQUIRE(is_shape<kHollow, 1, 4>(taps::derivative(1, 0, 1, 8)));
  REQUIRE(is_shape<kStar, 1, 4>(taps::derivative(1, 0, 2, 8)));
  REQUIRE_FALSE(is_shape<kStar, 2, 1>(star));
  REQUIRE_FALSE(is_shape<kStar, 2, 3>(star));
  REQUIRE_FALSE(is_shape<kBox, 2, 1>(star));  // both have nine taps
  REQUIRE_FALSE(is_shape<kStar, 3, 2>(star));
  REQUIRE_FALSE(is_shape<kStar, 1, 4>(taps::derivative(1, 0, 1, 8)));

  SECTION("a tap elsewhere in place of one of its own") {
    Taps moved(2);
    for (const Tap& tap : star) moved.add(tap.offset[0] == 2 ? decltype(tap.offset){2, 1, 0} : tap.offset, 1.0);
    REQUIRE(moved.size() == star.size());
    REQUIRE_FALSE(is_shape<kStar, 2, 2>(moved));
  }
  SECTION("a tap too far away for 32 bits") {
    Taps far(1, {{{-1, 0, 0}, 1.0}, {{0, 0, 0}, 1.0}, {{(std::int64_t{1} << 32) + 1, 0, 0}, 1.0}});
    REQUIRE_FALSE(is_shape<kStar, 1, 1>(far));
  }
  SECTION("a tap twice") {
    auto twice = problem(test::star(1, 1, kWeights));
    twice.taps[0] = twice.taps[1];
    REQUIRE_FALSE(coefficients_of<float, TapShape<kStar, 1, 1>>(twice.taps).has_value());
  }
}

TEST_CASE("coefficients come in the shape's order") {
  using Shape = TapShape<kStar, 2, 1>;
  const Taps star(2, {{{-1, 0, 0}, 1.0}, {{0, -1, 0}, 2.0}, {{0, 0, 0}, 3.0}, {{0, 1, 0}, 4.0}, {{1, 0, 0}, 5.0}});
  const auto found = coefficients_of<double, Shape>(problem(star).taps);
  REQUIRE(found.has_value());
  const auto at = [&](int y, int x) { return (*found)[std::size_t(Shape::place(0, y, x))]; };
  REQUIRE(at(-1, 0) == 1.0);
  REQUIRE(at(0, -1) == 2.0);
  REQUIRE(at(0, 0) == 3.0);
  REQUIRE(at(0, 1) == 4.0);
  REQUIRE(at(1, 0) == 5.0);
}

namespace {

const Taps kLine = test::line(1, 0, 4, kWeights), kPlane = test::star(2, 1, kWeights),
           kFar = test::star(2, 2, kWeights), kVolume = test::star(3, 4, kWeights), kList = test::box(2, 3, kWeights),
           kCube = test::box(3, 2, kWeights), kFew = test::scattered(2, kWeights),
           kFewInSpace = test::scattered(3, kWeights);

std::string single(tessera_dtype dtype, const Taps& taps, tessera_boundary mode, std::int64_t side) {
  return choice(problem(dtype, taps, mode, side));
}

}  // namespace

TEST_CASE("shapes stream") {
  for (const tessera_dtype dtype : {kF32, kF64})
    for (const tessera_boundary mode : {kFixed, kPeriodic}) {
      // Measured in f64 with fixed sides: register_tile takes 0.98 to 1.01 of the time of streaming.
      const auto streams = [wide = dtype == kF64 && mode == kFixed](std::string_view chosen) {
        return chosen == "streaming" || (wide && chosen == "register_tile");
      };
      const std::string line = single(dtype, kLine, mode, 1 << 26);  // within 1 % of each other
      CHECK((streams(line) || line == "temporal"));
      CHECK(streams(single(dtype, kPlane, mode, 16384)));
      CHECK(streams(single(dtype, kFar, mode, 16384)));
      CHECK(single(dtype, kVolume, mode, 400) == (mode == kFixed ? "marching" : "streaming"));
    }
  CHECK(single(kF64, kVolume, kPeriodic, 64) == "streaming");
}

TEST_CASE("elements of 16 bits stream twice as fast as f32 where their rows are aligned") {
  for (const tessera_dtype dtype : {kF16, kBf16})
    for (const Taps& taps : {kLine, kPlane, kFar}) {
      const std::int64_t side = taps.rank() == 1 ? 1 << 28 : 16384;
      const auto seconds = [&](tessera_dtype type, std::int64_t extent) {
        return test::offers("streaming", problem(type, taps, kPeriodic, extent)).cheapest().seconds;
      };
      CHECK(single(dtype, taps, kPeriodic, side) == "streaming");
      CHECK(seconds(kF32, side) / seconds(dtype, side) == Catch::Approx(2.0).epsilon(0.02));
      if (taps.rank() == 2) CHECK(seconds(dtype, side - 4) > 1.01 * seconds(dtype, side));  // as a list
    }
}

TEST_CASE("elements of 16 bits are values of f32 on the chip") {
  for (const tessera_dtype dtype : {kF16, kBf16}) {
    const auto wide = problem(kF32, kPlane, kFixed, 1000, 20), narrow = problem(dtype, kPlane, kFixed, 1000, 20);
    const int extent[] = {1, 16, 64};
    CHECK(make_tile(narrow, test::h100(), extent)->bytes == make_tile(wide, test::h100(), extent)->bytes);
    const auto exchanged = test::given({{"depth", 4}, {"rows", 8}, {"warps", 16}});
    CHECK(test::offers("persistent", narrow, exchanged).cheapest().workspace_bytes ==
          test::offers("persistent", wide, exchanged).cheapest().workspace_bytes);
    CHECK(test::offers("temporal", narrow).cheapest().workspace_bytes <= narrow.sweep_workspace());
    CHECK(narrow.sweep_workspace() == wide.sweep_workspace() / 2);
  }
}

TEST_CASE("small domains of which no boundary moves take one short launch") {
  CHECK(single(kF32, kLine, kFixed, 1 << 18) == "register_tile");
  CHECK(single(kF32, kPlane, kFixed, 512) == "register_tile");
  CHECK(single(kF64, kPlane, kFixed, 300) == "register_tile");
  CHECK(single(kF64, test::star(3, 1, kWeights), kFixed, 40) == "register_tile");
}

TEST_CASE("register_tile says what it does not take") {
  const auto why = [](const plugin::StencilProblem& p) { return cuda::why_not_register_tile(p, test::h100()); };
  const Taps line = test::star(1, 4, kWeights);
  CHECK(why(problem(kF32, line, kFixed, 1 << 30)) == "");
  CHECK(why(problem(kF32, line, kFixed, (1 << 30) + 1)) == "takes arrays that span up to 2^30 elements");
  CHECK(why(problem(kF32, kPlane, kPeriodic, 100)) == "takes fixed sides");
  CHECK(why(problem(kF32, kList, kFixed, 100)).find("takes stars of radius 1 to 4") == 0);
  plugin::StencilProblem thin = problem(kF64, kVolume, kFixed, 9);
  thin.domain.extents[0] = 65536;
  CHECK(why(thin) == "takes up to 65535 planes, of 262140 rows");
}

TEST_CASE("lists of some taps stream, and many that fill a box go by registers") {
  CHECK(single(kF64, kFew, kPeriodic, 4096) == "streaming");
  CHECK(single(kF32, kFewInSpace, kPeriodic, 128) == "streaming");
  CHECK(single(kF64, kFewInSpace, kFixed, 200) == "streaming");
  for (const tessera_boundary mode : {kFixed, kPeriodic}) {
    for (const tessera_dtype dtype : {kF32, kF64, kBf16}) CHECK(single(dtype, kList, mode, 4096) == "dense");
    CHECK(single(kF32, kCube, mode, 256) == "dense");
    CHECK(single(kF64, test::line(1, 0, 20, kWeights), mode, 1 << 24) == "dense");
    CHECK(single(kF32, test::box(2, 1, kWeights), mode, 16384) == "streaming");
  }
}

TEST_CASE("large products of a factor for each axis go axis by axis, where sums may have any order") {
  const Taps filter = test::product(2, {-7, -7, 0}, {15, 15, 1}, kWeights);
  for (const tessera_boundary mode : {kFixed, kPeriodic})
    for (const tessera_dtype dtype : {kF32, kF64, kBf16}) {
      CHECK(single(dtype, filter, mode, 4096) == "separable");
      CHECK(single(dtype, test::product(3, {-3, -3, -3}, {7, 7, 7}, kWeights), mode, 192) == "separable");
    }
  plugin::StencilProblem p = problem(kF32, filter, kFixed, 4096);
  p.ordered = true;
  CHECK(cuda::why_not_separable(p, test::h100()).find("takes taps that fill a box and are products") == 0);
}

TEST_CASE("blocks of separable filters cover the domain, whatever they are asked to have") {
  const Taps plane = test::product(2, {-2, -1, 0}, {9, 4, 1}, kWeights);
  const Taps volume = test::product(3, {-2, -1, 0}, {4, 5, 3}, kWeights);
  for (const tessera_dtype dtype : {kF32, kF64})
    for (const Taps& taps : {plane, volume})
      for (const std::int64_t segment : {0, 1, 3, 1000}) {
        const plugin::StencilProblem p = problem(dtype, taps, kPeriodic, 70);
        const auto l = cuda::separable_layout(p, test::h100(), plugin::tap_terms(p).value(), segment);
        REQUIRE(l.has_value());
        const int rows = l->batch * (l->march == 1 ? l->segment : 1), planes = l->march == 0 ? l->segment : 1;
        const std::int64_t covered[] = {std::int64_t(l->tiles[0]) * planes, std::int64_t(l->tiles[1]) * rows,
                                        std::int64_t(l->tiles[2]) * l->span};
        for (int axis = 0; axis < plugin::kAxes; ++axis) {
          CAPTURE(axis, segment);
          CHECK(covered[axis] >= p.domain.extents[axis]);
        }
        if (segment > 0) CHECK(l->segment <= segment);
        CHECK(l->shared_bytes() <= test::h100().shared_per_block);
      }
}

TEST_CASE("dense says what it does not take") {
  const auto why = [](const plugin::StencilProblem& p) { return cuda::why_not_dense(p, test::h100()); };
  CHECK(why(problem(kF32, kList, kFixed, 100)) == "");
  CHECK(why(problem(kF32, kPlane, kFixed, 100)) == "takes taps that fill a box");
  plugin::StencilProblem strided = problem(kF32, kList, kFixed, 100);
  strided.in_strides[2] = 2;
  CHECK(why(strided) == "takes rows of stride 1");
  plugin::StencilProblem high = problem(kF64, kCube, kFixed, 9);
  high.domain.extents[0] = 4 * 65535 + 1;
  CHECK(why(high).find("takes boxes of taps near the point") == 0);
  plugin::StencilProblem constant = problem(kBf16, kList, TESSERA_BOUNDARY_CONSTANT, 100);
  constant.domain.value[2][0] = 0.1;
  CHECK(why(constant).find("takes boxes of taps near the point") == 0);
  constant.domain.value[2][0] = 0.125;
  CHECK(why(constant) == "");
}

TEST_CASE("several steps share a pass over memory, or the registers where they hold the domain") {
  for (const tessera_dtype dtype : {kF32, kF64})
    for (const tessera_boundary mode : {kFixed, kPeriodic}) {
      CHECK(choice(problem(dtype, kPlane, mode, 16384, 100)) == "temporal");
      CHECK(choice(problem(dtype, kPlane, mode, 4096, 2)) == "temporal");
      CHECK(choice(problem(dtype, kLine, mode, 1 << 20, 2)) == "temporal");
      CHECK(choice(problem(dtype, kPlane, mode, 1024, 100)) == "persistent");
      CHECK(choice(problem(dtype, kPlane, mode, 512, 100)) == "persistent");
      CHECK(choice(problem(dtype, kVolume, mode, 256, 100)) == (mode == kFixed ? "marching" : "streaming"));
    }
}

TEST_CASE("offers are few, of all steps, and name their workspace") {
  for (const Taps& taps : {kLine, kPlane, kVolume, kList, kCube, kFewInSpace})
    for (const std::int64_t steps : {1, 3, 1000}) {
      const auto p = problem(kF64, taps, kPeriodic, taps.rank() == 3 ? 100 : 1000, steps);
      std::size_t count = 0;
      for (const auto& algorithm : test::kStencilAlgorithms)
        for (const plugin::Offer& offer : test::all_offers(algorithm.name, p)) {
          CAPTURE(algorithm.name, offer.parameters.text(), steps);
          ++count;
          CHECK(std::isfinite(offer.seconds));
          CHECK(offer.seconds >= 1e-6);
          CHECK(offer.seconds <= 5e-3 * double(steps));
          if (steps == 1) CHECK(offer.workspace_bytes == 0);
          if (std::string_view(algorithm.name) == "streaming") CHECK(offer.workspace_bytes == p.sweep_workspace());
        }
      CHECK(count >= 3);
      CHECK(count <= 48);
    }
}

TEST_CASE("a device with half of everything takes twice as long") {
  DeviceProperties half = kH100;
  half.multiprocessors /= 2;
  half.memory_bus_bits /= 2;
  half.l2_bytes /= 2;
  const Machine machine = machine_of(half);
  for (const Taps& taps : {kLine, kPlane, kVolume, kList}) {
    const auto p = problem(kF32, taps, kFixed, taps.rank() == 1 ? 1 << 28 : taps.rank() == 2 ? 16384 : 600);
    for (const auto& algorithm : test::kStencilAlgorithms) {
      const plugin::OfferList whole = test::offers(algorithm.name, p),
                              halved = test::offers(algorithm.name, p, {}, machine);
      if (whole.empty()) continue;
      CAPTURE(algorithm.name);
      CHECK(halved.cheapest().seconds / whole.cheapest().seconds == Catch::Approx(2.0).epsilon(0.03));
    }
  }
}

TEST_CASE("an empty domain and very many steps have a price, too") {
  for (const auto& algorithm : test::kStencilAlgorithms) {
    CAPTURE(algorithm.name);
    for (const auto& p : {problem(kF32, kPlane, kFixed, 0), problem(kF32, kPlane, kFixed, 600, INT64_MAX)})
      for (const plugin::Offer& offer : test::all_offers(algorithm.name, p)) CHECK(offer.seconds > 0.0);
  }
}

TEST_CASE("tiles are those that are asked for") {
  const auto p = problem(kF32, kPlane, kFixed, 1000);
  for (const std::string_view name : {"shared_ldg", "shared_constant"}) {
    for (const plugin::Offer& offer : test::all_offers(name, p, test::given({{"tile_y", 16}})))
      CHECK(offer.parameters.at("tile_y") == 16);
    const plugin::OfferList one = test::offers(name, p, test::given({{"tile_y", 8}, {"tile_x", 64}}));
    REQUIRE(one.all().size() == 1);
    const Tile tile = tile_of(p, test::h100(), one.cheapest().parameters);
    CHECK(tile.extent[1] == 8);
    CHECK(tile.cells[2] == 66);
    CHECK_THROWS_AS(test::offers(name, p, test::given({{"tile_y", 2048}, {"tile_x", 2}})), plugin::Error);
    CHECK_THROWS_AS(test::offers(name, p, test::given({{"tile_x", 3}})), plugin::Error);
  }
  const plugin::OfferList bank = test::offers("shared_constant", p, test::given({{"bank", 1}}));
  CHECK(bank.cheapest().parameters.at("bank") == 1);
  CHECK_THROWS_AS(test::offers("shared_constant", p, test::given({{"bank", 3}})), plugin::Error);
}
