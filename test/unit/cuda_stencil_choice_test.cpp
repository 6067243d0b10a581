// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Which stencil algorithm the CUDA backend prefers, and which lists of taps have kernels of their own: tested without a
// device.
#include <preferred.hpp>
#include <stencil_cases.hpp>
#include <tap_shape.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

plugin::StencilProblem problem(tessera_dtype dtype, const Taps& taps, tessera_boundary mode, std::int64_t side = 0) {
  const std::int64_t extent = side != 0 ? side : taps.rank() == 1 ? 1 << 22 : 2048;
  std::vector<tessera_tap> list;
  for (const Tap& tap : taps) {
    tessera_tap one{};
    std::copy(tap.offset.begin(), tap.offset.end(), one.offset);
    one.coefficient = tap.coefficient;
    list.push_back(one);
  }
  std::reverse(list.begin(), list.end());  // order does not matter
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = dtype;
  desc.rank = taps.rank();
  std::int64_t stride = 1;
  for (int axis = desc.rank - 1; axis >= 0; --axis, stride *= extent) {
    desc.extents[axis] = extent;
    desc.in_strides[axis] = desc.out_strides[axis] = stride;
    desc.boundary[axis][0] = desc.boundary[axis][1] = mode;
  }
  desc.taps = list.data();
  desc.tap_size = sizeof list[0];
  desc.tap_count = std::int64_t(list.size());
  desc.steps = 1;
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

plugin::StencilProblem problem(const Taps& taps) { return problem(TESSERA_F32, taps, TESSERA_BOUNDARY_FIXED); }

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

TEST_CASE("the preferred stencil algorithm") {
  constexpr auto kFixed = TESSERA_BOUNDARY_FIXED, kPeriodic = TESSERA_BOUNDARY_PERIODIC;
  constexpr auto kF32 = TESSERA_F32, kF64 = TESSERA_F64;
  const auto first = [](tessera_dtype dtype, const Taps& taps, tessera_boundary mode, std::int64_t side) {
    return preferred_stencils(problem(dtype, taps, mode, side)).front();
  };
  const Taps line = test::line(1, 0, 4, kWeights), plane = test::star(2, 1, kWeights), far = test::star(2, 2, kWeights),
             volume = test::star(3, 4, kWeights), list = test::box(2, 3, kWeights), cube = test::box(3, 2, kWeights),
             few = test::scattered(2, kWeights), few_in_space = test::scattered(3, kWeights);

  SECTION("shapes stream") {
    for (const tessera_dtype dtype : {kF32, kF64})
      for (const tessera_boundary mode : {kFixed, kPeriodic}) {
        CHECK(first(dtype, line, mode, 1 << 20) == "streaming");
        CHECK(first(dtype, plane, mode, 1024) == "streaming");
        CHECK(first(dtype, far, mode, 1024) == "streaming");
        CHECK(first(dtype, volume, mode, 100) == "streaming");
      }
    CHECK(first(kF32, line, kPeriodic, 1 << 16) == "streaming");
    CHECK(first(kF64, volume, kPeriodic, 64) == "streaming");
  }
  SECTION("small domains of which no boundary moves take a thread a point") {
    CHECK(first(kF32, line, kFixed, 1 << 18) == "restrict");
    CHECK(first(kF32, plane, kFixed, 512) == "restrict");
    CHECK(first(kF64, volume, kFixed, 64) == "restrict");
  }
  SECTION("lists stream in lines and planes") {
    CHECK(first(kF32, few, kPeriodic, 256) == "streaming");
    CHECK(first(kF64, few, kPeriodic, 4096) == "streaming");
    CHECK(first(kF64, few, kFixed, 512) == "restrict");
    CHECK(first(kF64, few, kFixed, 1024) == "streaming");
    CHECK(first(kF32, list, kPeriodic, 2048) == "streaming");
    CHECK(first(kF64, list, kFixed, 2048) == "streaming");
  }
  SECTION("lists of some taps stream in volumes") {
    CHECK(first(kF32, few_in_space, kPeriodic, 128) == "streaming");
    CHECK(first(kF64, few_in_space, kFixed, 128) == "streaming");
    CHECK(first(kF32, few_in_space, kFixed, 100) == "restrict");
  }
  SECTION("lists of many taps in small planes and in volumes take a tile in shared memory") {
    CHECK(first(kF32, list, kPeriodic, 1024) == "shared_ldg");
    CHECK(first(kF64, list, kFixed, 1024) == "shared_constant");
    CHECK(first(kF32, cube, kFixed, 256) == "shared_ldg");
    CHECK(first(kF64, cube, kPeriodic, 256) == "shared_ldg");
    CHECK(first(kF32, few_in_space, kPeriodic, 64) == "shared_ldg");
  }
  SECTION("whatever comes first, restrict supports the rest") {
    for (const Taps& taps : {line, plane, far, volume, list, cube})
      for (const tessera_boundary mode : {kFixed, kPeriodic})
        for (const std::int64_t side : {16, 128, 1024})
          CHECK(preferred_stencils(problem(kF32, taps, mode, side)).back() == "restrict");
  }
}
