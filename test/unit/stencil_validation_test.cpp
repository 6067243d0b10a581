// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Bad stencil descriptors and operands.

#include "errors.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <limits>
#include <vector>

namespace tessera::test {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A 2D descriptor with its taps, for tests to spoil.
struct Given {
  tessera_tap taps[4] = {{{0, 0, 0}, 0.5}, {{0, 1, 0}, 0.25}, {{1, 0, 0}, 0.25}, {{-1, 0, 0}, 0.25}};
  const std::int64_t extents[2] = {5, 7};
  tessera_stencil_desc d = tessera_packed_stencil(TESSERA_F32, 2, extents, taps, 4);
  Given() = default;
  Given(const Given&) = delete;
};

tessera_status create(Context& context, const Given& g, ErrorText& error) {
  tessera_plan* plan = nullptr;
  const tessera_status status =
      tessera_plan_create(context.get(), reinterpret_cast<const tessera_desc*>(&g.d), nullptr, &plan, error.get());
  CHECK((plan != nullptr) == (status == TESSERA_OK));
  tessera_plan_destroy(plan);
  return status;
}

struct Bad {
  const char* what;
  std::function<void(Given&)> spoil;
  std::vector<std::string> parts;
};

const Bad kBad[] = {
    {"rank 0", [](auto& g) { g.d.rank = 0; }, {"rank", "0", "1, 2, 3"}},
    {"rank 4", [](auto& g) { g.d.rank = 4; }, {"rank", "4"}},
    {"a negative extent", [](auto& g) { g.d.extents[1] = -3; }, {"extents[1]", "-3", "at least 0"}},
    {"negative steps", [](auto& g) { g.d.steps = -1; }, {"steps", "-1", "at least 0"}},
    {"unknown sums", [](auto& g) { g.d.sums = 2; }, {"sums", "2", "any (0), ordered (1)"}},
    {"negative sums", [](auto& g) { g.d.sums = -1; }, {"sums", "-1"}},
    {"a reserved field that is set", [](auto& g) { g.d.reserved = 7; }, {"reserved", "7", "0"}},
    {"no taps", [](auto& g) { g.d.tap_count = 0; }, {"tap_count", "0", "at least 1"}},
    {"negative tap_count", [](auto& g) { g.d.tap_count = -4; }, {"tap_count", "-4"}},
    {"null taps", [](auto& g) { g.d.taps = nullptr; }, {"taps", "null"}},
    {"a short tap_size", [](auto& g) { g.d.tap_size = 8; }, {"tap_size", "8"}},
    {"a NaN coefficient", [](auto& g) { g.taps[2].coefficient = kNaN; }, {"taps[2].coefficient", "nan", "finite"}},
    {"an infinite coefficient", [](auto& g) { g.taps[1].coefficient = -kInfinity; }, {"taps[1].coefficient", "inf"}},
    {"a coefficient that f32 cannot hold",
     [](auto& g) { g.taps[0].coefficient = -1e300; },
     {"taps[0].coefficient = -1e+300: ", "f32"}},
    {"a boundary value that f32 cannot hold",
     [](auto& g) { g.d.boundary[0][1] = TESSERA_BOUNDARY_CONSTANT, g.d.boundary_value[0][1] = 2e200; },
     {"boundary_value[0][1] = 2e+200: "}},
    {"an offset beyond the rank", [](auto& g) { g.taps[3].offset[2] = 1; }, {"taps[3].offset[2]", "1", "rank"}},
    {"a huge offset",
     [](auto& g) { g.taps[0].offset[0] = std::int64_t{1} << 40; },
     {"taps[0].offset[0]", "1099511627776"}},
    {"the smallest offset", [](auto& g) { g.taps[0].offset[1] = INT64_MIN; }, {"taps[0].offset[1]"}},
    {"an unknown boundary", [](auto& g) { g.d.boundary[1][0] = 7; }, {"boundary[1][0]", "7", "periodic"}},
    {"a negative boundary", [](auto& g) { g.d.boundary[0][1] = -1; }, {"boundary[0][1]", "-1"}},
    {"a halo and two steps",
     [](auto& g) { g.d.boundary[0][1] = TESSERA_BOUNDARY_HALO, g.d.steps = 2; },
     {"steps", "2", "halo"}},
    {"one stride packed, one not", [](auto& g) { g.d.in_strides[0] = 9; }, {"in_strides", "packed"}},
    {"a zero stride",
     [](auto& g) { g.d.out_strides[0] = 7, g.d.out_strides[1] = 0; },
     {"out_strides[1]", "0", "at least 1", "TESSERA_PACKED (kPacked) for all axes"}},
    {"a negative stride", [](auto& g) { g.d.in_strides[0] = -7, g.d.in_strides[1] = 1; }, {"in_strides[0]", "-7"}},
    {"rows that overlap",
     [](auto& g) { g.d.out_strides[0] = 6, g.d.out_strides[1] = 1; },
     {"out_strides = 6, 1 with extents 5, 7: points overlap"}},
    {"ghost points that overlap",
     [](auto& g) {
       g.d.in_strides[0] = 7, g.d.in_strides[1] = 1;
       g.d.boundary[1][1] = TESSERA_BOUNDARY_HALO;
     },
     {"in_strides = 7, 1 with extents 5, 8: points overlap"}},
    {"points overflow",
     [](auto& g) { g.d.extents[0] = g.d.extents[1] = std::int64_t{1} << 32; },
     {"in_strides = TESSERA_PACKED with extents 4294967296, 4294967296: ", "2^63"}},
    {"bytes overflow though points do not",
     [](auto& g) { g.d.extents[0] = std::int64_t{1} << 61, g.d.extents[1] = 1; },
     {"2^63"}},
    {"an extent whose halo overflows",
     [](auto& g) {
       g.d.extents[0] = INT64_MAX, g.d.extents[1] = 1;
       g.d.boundary[0][0] = g.d.boundary[0][1] = TESSERA_BOUNDARY_HALO;
     },
     {"extents[0]", "9223372036854775807"}},
    {"strides overflow", [](auto& g) { g.d.in_strides[0] = INT64_MAX, g.d.in_strides[1] = 1; }, {"in_strides"}},
    {"unknown dtype", [](auto& g) { g.d.dtype = 0; }, {"dtype", "0"}},
    {"unknown compute mode", [](auto& g) { g.d.compute = 2; }, {"compute", "2"}},
};

StencilDesc small() { return {.extents = {3, 4}, .taps = taps::identity(2)}; }

}  // namespace

TEST_CASE("bad stencil descriptors are refused with the argument, its value and the bound", "[validation]") {
  Context context = fake();
  for (const Bad& bad : kBad) {
    Given g;
    bad.spoil(g);
    ErrorText error;
    const tessera_status status = create(context, g, error);
    check_error(bad.what, status, error, TESSERA_INVALID_ARGUMENT, bad.parts);
  }
  const Given fine;
  ErrorText error;
  CHECK(create(context, fine, error) == TESSERA_OK);
}

TEST_CASE("taps of one offset are added before they are checked", "[validation]") {
  Context context = fake();
  Given g;
  g.taps[1] = {{0, 0, 0}, 3e38};
  g.taps[0] = {{0, 0, 0}, 3e38};  // each fits in f32, their sum does not
  ErrorText error;
  check_error("a sum that f32 cannot hold", create(context, g, error), error, TESSERA_INVALID_ARGUMENT,
              {"coefficient"});
}

TEST_CASE("taps of a newer version are taken only if their new fields are zero", "[validation]") {
  Context context = fake();
  struct LaterTap {
    tessera_tap known;
    double later;
  } taps[2] = {{{{0, 0, 0}, 1.0}, 0.0}, {{{0, 1, 0}, 1.0}, 0.0}};
  Given g;
  g.d.taps = &taps[0].known;
  g.d.tap_size = sizeof(LaterTap);
  g.d.tap_count = 2;
  ErrorText fine, error;
  CHECK(create(context, g, fine) == TESSERA_OK);
  taps[1].later = 2.0;
  check_error("a field that is not known", create(context, g, error), error, TESSERA_UNSUPPORTED, {"newer"});
}

TEST_CASE("bad operands of a stencil are refused, and the plan works on", "[validation]") {
  Context context = fake();
  StencilPlan plan(context, small());
  std::vector<float> in(12, 3.0f), out(12);
  float* const none = nullptr;
  const auto refused = [&](const char* what, const std::vector<std::string>& parts, auto&& body) {
    check_throws(what, ErrorCode::invalid_argument, parts, body);
    out.assign(12, 0.0f);
    plan.execute(in, out);
    CHECK(out == in);
  };
  refused("null in", {"in", "null", "12"}, [&] { plan.execute(none, out.data()); });
  refused("null out", {"out", "null", "12"}, [&] { plan.execute(in.data(), none); });
  refused("out is in", {"out", "overlaps in"}, [&] { plan.execute(in.data(), in.data()); });
  refused("out overlaps in", {"out", "overlaps in"}, [&] { plan.execute(in.data(), in.data() + 11); });
  std::vector<double> doubles(24);
  refused("doubles", {"dtype", "f32"}, [&] { plan.execute(doubles.data(), doubles.data() + 12); });
  refused("a misaligned pointer", {"out", "aligned"},
          [&] { plan.execute(in.data(), reinterpret_cast<float*>(reinterpret_cast<char*>(out.data()) + 1)); });
  const tessera_operand alone{in.data(), TESSERA_F32, TESSERA_ROLE_IN};
  refused("one operand", {"operand_count = 1: must be 2 (in, out)"}, [&] {
    const tessera_execution e{sizeof e, &alone, sizeof alone, 1, nullptr, sizeof(tessera_scalar), 0, nullptr, 0, 0};
    detail::call(tessera_plan_execute, plan.get(), &e);
  });
  const std::vector<float> short_in(11);
  refused("a short span", {"in", "11", "12"}, [&] { plan.execute(short_in, out); });

  StencilPlan halo(context, {.extents = {4}, .taps = taps::laplacian(1), .boundary = Boundary::halo});
  std::vector<float> line(6), result(4);
  check_throws("a span before which ghost points lie", ErrorCode::invalid_argument, {"halo", "pointer"},
               [&] { halo.execute(line, result); });
  halo.execute(line.data() + 1, result.data());
  check_throws("out in the halo of in", ErrorCode::invalid_argument, {"out", "overlaps in"},
               [&] { halo.execute(line.data() + 1, line.data() - 3); });
}

TEST_CASE("interleaved fields of one array are legal", "[validation]") {
  Context context = fake();
  StencilPlan plan(context, {.extents = {6}, .taps = taps::identity(1), .in_strides = {2}, .out_strides = {2}});
  std::vector<float> both = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0};
  plan.execute(both.data(), both.data() + 1);
  CHECK(both == std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  check_throws("fields that meet", ErrorCode::invalid_argument, {"out", "overlaps in"},
               [&] { plan.execute(both.data(), both.data() + 2); });
}

TEST_CASE("an empty domain needs no arrays", "[validation]") {
  Context context = fake();
  float* const none = nullptr;
  StencilPlan(context, {.extents = {0, 5}, .taps = taps::laplacian(2)}).execute(none, none);
}

TEST_CASE("the C++ descriptor is checked for its shape", "[validation]") {
  Context context = fake();
  const auto refused = [&](const char* what, const std::vector<std::string>& parts, auto&& spoil) {
    StencilDesc desc = small();
    spoil(desc);
    check_throws(what, ErrorCode::invalid_argument, parts, [&] { StencilPlan plan(context, desc); });
  };
  refused("no extents", {"extents has 0 axes", "was not set"}, [](auto& d) { d.extents.clear(); });
  refused("four extents", {"extents", "4"}, [](auto& d) { d.extents = {1, 1, 1, 1}; });
  refused("taps of another rank", {"taps", "3", "2"}, [](auto& d) { d.taps = taps::identity(3); });
  refused("taps of another rank, 1D", {"taps have rank 2, extents has 1 axis: they must agree"},
          [](auto& d) { d.extents = {5}; });
  refused("taps that were forgotten", {"taps have rank 0, extents has 2 axes", "taps was not set"},
          [](auto& d) { d.taps = {}; });
  refused("the sides of a line as entries",
          {"boundary has 2 entries; extents has 1 axis", "the two sides of one axis are BoundaryAxis(low, high)"},
          [](auto& d) {
            d.extents = {5};
            d.taps = taps::identity(1);
            d.boundary = {Boundary::fixed, Boundary::nearest};
          });
  refused("no taps", {"tap_count", "0"}, [](auto& d) { d.taps = Taps(2); });
  refused("three boundaries", {"boundary", "3", "2"}, [](auto& d) {
    d.boundary = {Boundary::fixed, Boundary::fixed, Boundary::fixed};
  });
  refused("one stride", {"in_strides has 1 entry; extents has 2 axes: give one entry per axis"},
          [](auto& d) { d.in_strides = {4}; });
  refused("three strides", {"out_strides", "3", "2"}, [](auto& d) { d.out_strides = {4, 1, 1}; });
}

}  // namespace tessera::test
