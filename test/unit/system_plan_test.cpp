// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Plans of systems: what their executions refuse, and where they leave the levels.

#include "errors.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

/// A wave on 4 x 5 points with a source and a receiver.
struct Wave {
  StencilSystem system{{4, 5}};
  SystemField u = system.state("u", {.levels = 2}), c2 = system.array("c2"), s = system.profile("s", 1);
  std::vector<float> now = std::vector<float>(20, 1.0f), before = now, speed = now,
                     sponge = std::vector<float>(5, 1.0f);
  std::vector<float> source = std::vector<float>(6, 0.5f), receiver = std::vector<float>(6);

  Wave() {
    system.update(u) = s * (2 * u - u[-1] + c2 * u.under(taps::laplacian(2)));
    system.inject(u, {{{2, 2, 0}}, {1.0}, {0}, 1});
    system.record(u, {{{1, 1, 0}}, {1.0}, {0}, 1});
  }
  std::vector<FieldArrays> fields() { return {{u, now, before}, {c2, speed}, {s, sponge}}; }
  SystemSeries series(std::int64_t first = 0) { return {{source}, {receiver}, first}; }
};

constexpr auto kInvalid = ErrorCode::invalid_argument;

/// The C functions' view of an execution, for what the C++ classes do not let pass.
struct Raw {
  std::vector<tessera_operand> operands;
  tessera_execution execution{};

  explicit Raw(Wave& w)
      : operands{{w.now.data(), TESSERA_F32, TESSERA_ROLE_FIELD},
                 {w.before.data(), TESSERA_F32, TESSERA_ROLE_FIELD + 1},
                 {w.speed.data(), TESSERA_F32, TESSERA_ROLE_FIELD + 4},
                 {w.sponge.data(), TESSERA_F32, TESSERA_ROLE_FIELD + 8},
                 {w.source.data(), TESSERA_F32, TESSERA_ROLE_INJECTED},
                 {w.receiver.data(), TESSERA_F32, TESSERA_ROLE_RECORDED}} {
    execution.struct_size = sizeof execution;
    execution.operand_size = sizeof(tessera_operand);
  }
  void refused(const char* what, SystemPlan& plan, const std::vector<std::string>& parts) {
    execution.operands = operands.data(), execution.operand_count = operands.size();
    ErrorText error;
    const tessera_status status = tessera_plan_execute(plan.get(), &execution, error.get());
    check_error(what, status, error, TESSERA_INVALID_ARGUMENT, parts);
  }
};

/// Checks what is said of a system that `make` has put together wrong.
template <class Make>
void begins(const std::string& message, Make&& make) {
  try {
    StencilSystem system({4, 5});
    make(system);
    SystemPlan(fake(), system, 2);
  } catch (const Error& error) {
    CHECK(error.code() == kInvalid);
    CHECK_THAT(error.what(), Catch::Matchers::StartsWith(message));
    return;
  }
  FAIL_CHECK("nothing was thrown, instead of " << message);
}

}  // namespace

TEST_CASE("arrays of a system are checked by name", "[system]") {
  Wave w;
  Context context = fake();
  SystemPlan plan(context, w.system, 3);
  const std::vector<float> constant(20), small(19);
  std::vector<double> wide(20);
  std::vector<float> array(20);
  using Fields = std::vector<FieldArrays>;
  const auto refused = [&](const char* what, const Fields& fields, const std::vector<std::string>& parts) {
    check_throws(what, kInvalid, parts, [&] { plan.execute(fields, w.series()); });
  };
  refused("too small", {{w.u, w.now, w.before}, {w.c2, small}, {w.s, w.sponge}}, {"c2 has 19 elements", "needs 20"});
  refused("const state", {{w.u, w.now, constant}, {w.c2, w.speed}, {w.s, w.sponge}}, {"u[-1] is const"});
  refused("three levels", {{w.u, w.now, w.before, array}, {w.c2, w.speed}}, {"u has 2 levels, 3 arrays"});
  refused("a level too few", {{w.u, w.now}, {w.c2, w.speed}, {w.s, w.sponge}},
          {"u[-1] is missing: each field has an array, a state one for each of its levels"});
  refused("no arrays at all", {}, {"u, u[-1], c2, s are missing"});
  refused("another type", {{w.u, w.now, w.before}, {w.c2, wide}, {w.s, w.sponge}}, {"c2 is of type f64", "takes f32"});
  check_throws("a series of another type", kInvalid, {"injections[0] is of type f64", "set dtype of the system"}, [&] {
    plan.execute(w.fields(), {{wide}, {w.receiver}});
  });
  refused("twice the same", {{w.u, w.now, w.now}, {w.c2, w.speed}, {w.s, w.sponge}},
          {"u = an array that overlaps u[-1]", "must not share an element"});
  refused("read and written", {{w.u, w.now, w.before}, {w.c2, w.before}, {w.s, w.sponge}}, {"overlaps c2"});
  check_throws("no series", kInvalid, {"injections: 0 arrays", "has 1, of u"}, [&] { plan.execute(w.fields()); });
  check_throws("short series", kInvalid, {"injections[0] has 6 rows of 1", "3 steps from row 4"},
               [&] { plan.execute(w.fields(), w.series(4)); });
  check_throws("a row before the first", kInvalid, {"first_step = -1"},
               [&] { plan.execute(w.fields(), w.series(-1)); });
  CHECK(w.now == std::vector<float>(20, 1.0f));
  CHECK_NOTHROW(plan.execute(w.fields(), w.series(3)));
}

TEST_CASE("what C gives for a system is checked", "[system]") {
  Wave w;
  Context context = fake();
  SystemPlan plan(context, w.system, 3);
  Raw raw(w);
  raw.operands[3].role = TESSERA_ROLE_FIELD + 12;
  raw.refused("unknown role", plan, {"role = 76", "must be one of", "s (role 72)"});
  raw.operands[3].role = TESSERA_ROLE_FIELD;
  raw.refused("twice", plan, {"u = given twice"});
  raw = Raw(w);
  raw.operands[1].data = nullptr;
  raw.refused("null", plan, {"u[-1] = null", "20 elements"});
  raw = Raw(w);
  raw.operands[2].data = reinterpret_cast<char*>(w.speed.data()) + 2;
  raw.refused("misaligned", plan, {"c2 =", "aligned to its elements of 4 bytes"});
  raw = Raw(w);
  raw.execution.scalar_count = 1;
  raw.refused("scalars", plan, {"scalar_count = 1", "must be 0"});
  raw = Raw(w);
  raw.operands.erase(raw.operands.begin() + 1, raw.operands.begin() + 3);
  raw.refused("a level and an array", plan,
              {"u[-1], c2 are missing", "(in C 6 operands, not 4, with the roles 65, 68 as well)"});
  raw.operands.clear();
  raw.refused("nothing", plan, {"u, u[-1], c2, s, injections[0], recordings[0] are missing"});
  raw = Raw(w);
  raw.execution.first_step = INT64_MAX / 4;
  raw.refused("a row beyond memory", plan, {"first_step = 2305843009213693951: injections[0]", "of 4 bytes", "2^63"});
}

TEST_CASE("a field that a system does not have is told with those that it has", "[system]") {
  Wave w;
  check_throws("a name", kInvalid, {"there is no field 'w'; there are: u, c2, s"}, [&] { w.system.field("w"); });
  StencilSystem other({4, 5});
  for (int i = 0; i < 10; ++i) other.array("a" + std::to_string(i));
  const SystemField last = other.field("a9");
  check_throws("a name of many", kInvalid, {"there are: a0, a1, a2, a3, a4, a5, a6, a7 and 2 more"},
               [&] { other.field("w"); });
  SystemPlan plan(fake(), w.system, 3);
  check_throws("a number", kInvalid, {"field 9, which is not one of this system's: u, c2, s"}, [&] {
    plan.execute({{SystemField(last.index(), 2), w.now}}, w.series());
  });
  check_throws("a corner", kInvalid, {"update of 'u': low has 1 axes, the system has 2"},
               [&] { w.system.update(w.u, {.low = std::vector<std::int64_t>(1, 1)}) = w.u; });
}

TEST_CASE("messages about a field begin with its name", "[system]") {
  begins("fields = none: a system has a state", [](StencilSystem&) {});
  begins("fields = 65: must be at most 64", [](StencilSystem& s) {
    for (int i = 0; i < 65; ++i) s.array("a" + std::to_string(i));
  });
  begins("updates = none: a system has a state", [](StencilSystem& s) { s.array("c"); });
  begins("'u' has no update", [](StencilSystem& s) { s.state("u"); });
  begins("u.levels = 4: must be one of 1, 2, 3", [](StencilSystem& s) { s.state("u", {.levels = 4}); });
  begins("u.boundary[0][0] = halo: must be another",
         [](StencilSystem& s) { s.state("u", {.boundary = Boundary::halo}); });
  begins("p.axis = 2: must be one of", [](StencilSystem& s) { s.profile("p", 2); });
  begins("c.dtype = f64: must be f32", [](StencilSystem& s) { s.array("c", {.dtype = DType::f64}); });
  begins("fields[1].name = 'u': is another", [](StencilSystem& s) { s.state("u"), s.array("u"); });
  begins("dtype = f16: must be f32 or f64", [](StencilSystem& s) { s = StencilSystem({4}, DType::f16); });
}

TEST_CASE("messages about updates and points begin with the call and its field", "[system]") {
  begins("updates[0] of 'u': stage = 64", [](StencilSystem& s) {
    const auto u = s.state("u");
    s.update(u, {.stage = 64}) = 0.5 * u;
  });
  begins("updates[1] of 'u': its box overlaps", [](StencilSystem& s) {
    const auto u = s.state("u");
    s.update(u) = 0.5 * u;
    s.update(u, {.low = {1, 1}}) = 0.25 * u;
  });
  begins("updates[0] = an update of 'c': it is only read", [](StencilSystem& s) {
    const auto u = s.state("u"), c = s.array("c");
    s.update(c) = 0.5 * u;
  });
  begins("u[-1] in updates[0] of 'u': ", [](StencilSystem& s) {
    const auto u = s.state("u");
    s.update(u) = 0.5 * u[-1];
  });
  begins("u at offset[1] = 2000 in updates[0] of 'u': ", [](StencilSystem& s) {
    const auto u = s.state("u");
    s.update(u) = 0.5 * u.at({0, 2000});
  });
  begins("injections[0] of 'u': points[0], axis 1 = 5: must lie in [0, 5)", [](StencilSystem& s) {
    const auto u = s.state("u");
    s.update(u) = 0.5 * u;
    s.inject(u, {.points = {{3, 5}}});
  });
  begins("recordings[0] of 'c': must be of a state", [](StencilSystem& s) {
    const auto u = s.state("u"), c = s.array("c");
    s.update(u) = c * u;
    s.record(c, {.points = {{3, 4}}});
  });
}

TEST_CASE("points have the weight 1 and a series each unless they say otherwise", "[system]") {
  StencilSystem system({4, 5});
  const SystemField u = system.state("u");
  system.update(u) = 0.5 * u;
  system.inject(u, {.points = {{2, 2}, {1, 3}}});
  system.record(u, {.points = {{2, 2}, {1, 3}, {1, 3}}, .weights = {1, 0.5, 2}, .series = {0, 2, 2}});
  system.record(u, {.points = {{0, 0}}, .series = {1}, .series_count = 5});
  system.record(u, {});
  const StencilSystem::Description description(system, 1);
  const tessera_system_desc& d = *description.get();
  const tessera_points& in = d.injections[0];
  REQUIRE(in.count == 2);
  CHECK((in.weights[0] == 1.0 && in.weights[1] == 1.0 && in.series[0] == 0 && in.series[1] == 1));
  CHECK(in.series_count == 2);
  CHECK((d.recordings[0].weights[1] == 0.5 && d.recordings[0].series[2] == 2));
  CHECK(d.recordings[0].series_count == 3);
  CHECK((d.recordings[1].weights[0] == 1.0 && d.recordings[1].series[0] == 1));
  CHECK(d.recordings[1].series_count == 5);
  CHECK((d.recordings[2].count == 0 && d.recordings[2].series_count == 0));

  std::vector<float> values(20, 1.0f), source{3, 4}, receivers(3), other(5, 7.0f), none;
  SystemPlan(fake(), system, 1).execute({{u, values}}, {{source}, {receivers, other, none}});
  CHECK((values[12] == 3.5f && values[8] == 4.5f));
  CHECK(receivers == std::vector<float>{3.5f, 0, 4.5f * 2.5f});
  CHECK(other == std::vector<float>{0, 0.5f, 0, 0, 0});

  check_throws("weights", kInvalid, {"injections[1] of 'u': 1 weights for 2 points", "or none: then each is 1"}, [&] {
    system.inject(u, {.points = {{2, 2}, {1, 3}}, .weights = {1}});
  });
  check_throws("series", kInvalid, {"recordings[3] of 'u': 2 series for 1 points", "then each point has its own"}, [&] {
    system.record(u, {.points = {{2, 2}}, .series = {0, 1}});
  });
  check_throws("a negative series", kInvalid, {"recordings[3] of 'u': series[0] = -1"}, [&] {
    system.record(u, {.points = {{2, 2}}, .series = {-1}});
  });
}

TEST_CASE("a plan tells where the levels are after its steps", "[system]") {
  Context context = fake();
  const auto places = [&](int levels, NextLevel next, std::int64_t steps) {
    StencilSystem system({6});
    const auto u = system.state("u", {.levels = levels, .next = next});
    system.update(u) = 0.5 * u;
    const SystemPlan plan(context, system, steps);
    std::vector<int> result;
    for (int level = 0; level < levels; ++level) result.push_back(plan.place_after(u, -level));
    return result;
  };
  using Places = std::vector<int>;
  CHECK(places(1, NextLevel::in_place, 5) == Places{0});
  CHECK(places(1, NextLevel::apart, 5) == Places{0});
  CHECK(places(2, NextLevel::in_place, 1) == Places{1, 0});
  CHECK(places(2, NextLevel::in_place, 4) == Places{0, 1});
  CHECK(places(3, NextLevel::in_place, 1) == Places{2, 0, 1});
  CHECK(places(3, NextLevel::in_place, 2) == Places{1, 2, 0});
  CHECK(places(2, NextLevel::apart, 3) == Places{0, 1});  // three arrays take turns
  CHECK(places(2, NextLevel::apart, 1) == Places{1, 0});  // what the plan's array holds comes to the free one
}

TEST_CASE("what cannot be overwritten is refused, or has an array of its own", "[system]") {
  Context context = fake();
  StencilSystem heat({8});
  const auto u = heat.state("u", {.boundary = Boundary::periodic, .next = NextLevel::in_place});
  heat.update(u) = 0.5 * u.at({-1}) + 0.5 * u.at({1});
  check_throws("in place", kInvalid, {"u.next = in place", "reads level 0 of 'u' at neighbours", "apart"},
               [&] { SystemPlan(context, heat, 1); });
  StencilSystem other({8});
  const auto v = other.state("u", {.boundary = Boundary::periodic});
  other.update(v) = 0.5 * v.at({-1}) + 0.5 * v.at({1});
  SystemPlan plan(context, other, 3);
  CHECK(plan.workspace_bytes() >= 8 * sizeof(float));
  std::vector<float> values{8, 0, 0, 0, 0, 0, 0, 0};
  plan.execute({{v, values}});
  CHECK(values == std::vector<float>{0, 3, 0, 1, 0, 1, 0, 3});
  CHECK(plan.describe().find("system f32 8") == 0);
}

TEST_CASE("no steps change nothing", "[system]") {
  Wave w;
  SystemPlan plan(fake(), w.system, 0);
  plan.execute(w.fields(), w.series());
  CHECK(w.before == std::vector<float>(20, 1.0f));
  CHECK(plan.newest(w.u) == 0);
}

TEST_CASE("systems are neither cached nor tuned, and say so", "[system]") {
  Wave w;
  const StencilSystem::Description description(w.system, 1);
  const auto* desc = reinterpret_cast<const tessera_desc*>(description.get());
  Context context = fake();
  tessera_plan* plan = nullptr;
  ErrorText error;
  check_error("borrow", tessera_plan_borrow(context.get(), desc, nullptr, &plan, error.get()), error,
              TESSERA_UNSUPPORTED, {"plan cache", "tessera_plan_create"});
  check_error("tune", tessera_tune(context.get(), desc, nullptr, nullptr, nullptr, error.get()), error,
              TESSERA_UNSUPPORTED, {"systems are not tuned"});
  GemmPlan product(context, {.m = 2, .n = 2, .k = 2});
  tessera_role role = 0;
  check_error("levels of a product", tessera_plan_level_after(product.get(), 0, 0, &role, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"must be of a system"});
}

}  // namespace tessera::test
