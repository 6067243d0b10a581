// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Fields of systems: whose they are, also after copies and moves, and that no refused call leaves a trace.

#include "errors.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {
namespace {

constexpr auto kInvalid = ErrorCode::invalid_argument;
const Boundaries kThreeAxes(std::vector<BoundaryAxis>(3, Boundary::fixed));
const SeriesPoints kInside{.points = {{1, 2}}};
constexpr const char* kForeign = "of another StencilSystem; must be a field of this one";

/// 4 x 5 points: a state of two levels, an array and a profile.
struct Fields {
  StencilSystem system{{4, 5}};
  SystemField u = system.state("u", {.levels = 2}), c = system.array("c"), p = system.profile("p", 1);
};

/// One step of u <- 3 u + 1 of ones; what is recorded at (1, 2).
float stepped(const StencilSystem& system, const SystemField& u, const SystemField& c, const SystemField& p) {
  std::vector<float> now(20, 1.0f), before(20), ones(20, 1.0f), line(5, 1.0f), recorded(1);
  Context context = fake();
  SystemPlan plan(context, system, 1);
  plan.execute({{u, now, before}, {c, ones}, {p, line}}, {{}, {recorded}});
  CHECK((plan.newest(u) == 0 ? now : before)[7] == recorded[0]);
  return recorded[0];
}

/// A system as it is while calls that are refused come before and after each that is not.
class Tried {
 public:
  Fields f;
  const StencilSystem other = [] {
    StencilSystem system({4, 5});
    system.state("v");
    return system;
  }();
  const SystemField v = other.field("v");
  StencilSystem& s = f.system;

  void refuse_all() {
    for (const Calls& calls : {of_fields(), of_updates(), of_injections(), of_recordings()})
      for (const auto& [what, call] : calls) {
        INFO(what);
        CHECK_THROWS_AS(call(), Error);
      }
  }

 private:
  using Calls = std::vector<std::pair<std::string, std::function<void()>>>;

  Calls of_fields() {
    return {
        {"no name", [this] { s.state(""); }},
        {"a long name", [this] { s.array(std::string(65, 'x')); }},
        {"a name twice", [this] { s.array("u"); }},
        {"four levels", [this] { s.state("w", {.levels = 4}); }},
        {"a strange type", [this] { s.array("w", {.dtype = static_cast<DType>(77)}); }},
        {"a wider type", [this] { s.array("w", {.dtype = DType::f64}); }},
        {"strides of one axis", [this] { s.array("w", {.strides = {5}}); }},
        {"strides that overlap",
         [this] {
           s.array("w", {.strides = {1, 1}});
         }},
        {"boundaries of three axes", [this] { s.array("w", {.boundary = kThreeAxes}); }},
        {"a halo", [this] { s.array("w", {.boundary = Boundary::halo}); }},
        {"an axis too many", [this] { s.profile("w", 2); }},
        {"an unknown field", [this] { s.field("w"); }},
    };
  }
  Calls of_updates() {
    return {
        {"of an array", [this] { s.update(f.c) = f.u; }},
        {"of another's", [this] { s.update(v) = f.u; }},
        {"by another's", [this] { s.update(f.u) = 2 * v; }},
        {"by another's sum", [this] { s.update(f.u) = f.u + 0.5 * v.under(taps::box(2, 1)); }},
        {"a stage", [this] { s.update(f.u, {.stage = 64}) = f.u; }},
        {"a level", [this] { s.update(f.u) = f.u[-2]; }},
        {"a level that nobody makes", [this] { s.update(f.u) = f.u[1]; }},
        {"an offset",
         [this] {
           s.update(f.u) = f.u.at({std::int64_t{1} << 40, 0});
         }},
        {"not finite", [this] { s.update(f.u) = INFINITY * f.u; }},
        {"a corner of one axis", [this] { s.update(f.u, {.low = {1}}) = f.u; }},
        {"an empty box",
         [this] {
           s.update(f.u, {.low = {1, 1}, .high = {1, 5}}) = f.u;
         }},
        {"a box beyond the grid",
         [this] {
           s.update(f.u, {.low = {1, 1}, .high = {4, 6}}) = f.u;
         }},
        {"the box of a step",
         [this] {
           s.within({0, 0}, {4, 6});
         }},
        {"the box of a step of one axis", [this] { s.within({0}, {4}); }},
    };
  }
  Calls of_injections() {
    return {
        {"into an array", [this] { s.inject(f.c, kInside); }},
        {"into another's", [this] { s.inject(v, kInside); }},
        {"a point",
         [this] {
           s.inject(f.u, {.points = {{1, 2}, {1, 5}}});
         }},
        {"a negative point",
         [this] {
           s.inject(f.u, {.points = {{-1, 2}}});
         }},
        {"a weight",
         [this] {
           s.inject(f.u, {.points = {{1, 2}}, .weights = {NAN}});
         }},
        {"a weight beyond f32",
         [this] {
           s.inject(f.u, {.points = {{1, 2}}, .weights = {1e39}});
         }},
        {"two weights",
         [this] {
           s.inject(f.u, {.points = {{1, 2}}, .weights = {1, 2}});
         }},
        {"a late stage", [this] { s.inject(f.u, kInside, 64); }},
    };
  }
  Calls of_recordings() {
    return {
        {"of a profile", [this] { s.record(f.p, kInside); }},
        {"of another's", [this] { s.record(v, kInside); }},
        {"a recorded point",
         [this] {
           s.record(f.u, {.points = {{4, 2}}});
         }},
        {"a recorded weight",
         [this] {
           s.record(f.u, {.points = {{1, 2}}, .weights = {-INFINITY}});
         }},
        {"a series",
         [this] {
           s.record(f.u, {.points = {{1, 2}}, .series = {-1}});
         }},
        {"a series too many",
         [this] {
           s.record(f.u, {.points = {{1, 2}}, .series = {3}, .series_count = 3});
         }},
        {"two series",
         [this] {
           s.record(f.u, {.points = {{1, 2}}, .series = {0, 0}});
         }},
        {"fewer than no series", [this] { s.record(f.u, {.points = {}, .series_count = -1}); }},
        {"an early stage", [this] { s.record(f.u, kInside, -1); }},
    };
  }
};

void refused(const char* what, std::vector<std::string> parts, const std::function<void()>& call) {
  parts.push_back(kForeign);
  check_throws(what, kInvalid, parts, call);
}

}  // namespace

TEST_CASE("fields of another system are refused by name", "[system]") {
  Fields a, b;
  const SystemField v = b.system.state("v");
  refused("value", {"update of 'u': value reads 'v'", ": u, c, p"}, [&] { a.system.update(a.u) = 2 * v; });
  refused("a sum", {"value reads 'c'"}, [&] { a.system.update(a.u) = a.u + a.c * (1.0 + b.c * a.u); });
  refused("a factor", {"value reads 'p'"}, [&] { a.system.update(a.u) = b.p * (a.u + a.u[-1]); });
  refused("neighbours", {"value reads 'u'"}, [&] { a.system.update(a.u) = b.u.under(taps::laplacian(2)); });
  refused("a map", {"value reads 'u'"}, [&] { a.system.update(a.u) = abs(b.u).at({0, 1}) - a.u[-1]; });
  refused("the state", {"update: field = 'u'"}, [&] { a.system.update(b.u) = a.u; });
  refused("injection", {"injections[0]: field = 'u'"}, [&] { a.system.inject(b.u, {.points = {{1, 2}}}); });
  refused("recording", {"recordings[0]: field = 'u'"}, [&] { a.system.record(b.u, {.points = {{1, 2}}}); });
  StencilSystem none({3});
  refused("of none", {": none yet"}, [&] { none.inject(a.u, {.points = {{1}}}); });
  CHECK(v.name() == "v");
  CHECK(SystemField(3, 2).name() == "field 3");
}

TEST_CASE("plans refuse the fields of another system by name", "[system]") {
  Fields a, b;
  a.system.update(a.u) = a.u + a.c * a.p;
  std::vector<float> now(20), before(20), ones(20), line(5);
  Context context = fake();
  SystemPlan plan(context, a.system, 1);
  refused("a plan's array", {"fields: 'c'"}, [&] { plan.execute({{a.u, now, before}, {b.c, ones}, {a.p, line}}); });
  refused("newest", {"field: 'u'"}, [&] { plan.newest(b.u); });
  refused("a clone", {"field: 'u'"}, [&] { plan.clone().place_after(b.u, -1); });
  CHECK_NOTHROW(plan.execute({{a.u, now, before}, {a.c, ones}, {a.p, line}}));
}

TEST_CASE("a copy has the fields that there were, a moved system keeps its own", "[system]") {
  Fields f;
  f.system.update(f.u) = f.u + f.c * (f.p + f.u);
  StencilSystem copy = f.system;
  const SystemField of_copy = copy.array("later"), of_original = f.system.array("later");
  check_throws("of the copy", kInvalid, {"value reads 'later'", kForeign}, [&] { f.system.update(f.u) = of_copy; });
  check_throws("of the original", kInvalid, {"value reads 'later'", kForeign}, [&] { copy.update(f.u) = of_original; });
  copy.record(f.u, {.points = {{1, 2}}});
  StencilSystem moved = std::move(f.system);
  moved.record(f.u, {.points = {{1, 2}}});

  std::vector<float> now(20, 1.0f), before(20), ones(20, 1.0f), line(5, 1.0f), recorded(1);
  SystemPlan plan(fake(), moved, 1);
  plan.execute({{f.u, now, before}, {f.c, ones}, {f.p, line}, {of_original, ones}}, {{}, {recorded}});
  CHECK(recorded[0] == 3.0f);
  f.system = StencilSystem({4, 5});
  f.system.state("u");
  check_throws("the one before", kInvalid, {"field = 'u'", kForeign}, [&] { f.system.inject(f.u, {}); });
}

TEST_CASE("a call of a system that is refused leaves it as it was", "[system]") {
  Tried t;
  Fields& f = t.f;
  t.refuse_all();
  f.system.update(f.u, {.high = {2, 5}}) = 2 * f.u + f.c * f.p * (1.0 + f.u);
  t.refuse_all();
  check_throws("a box twice", kInvalid, {"updates[1] of 'u'", "overlaps"}, [&] { f.system.update(f.u) = f.u; });
  check_throws("two stages", kInvalid, {"updates[1] of 'u'", "stage = 1", "in stage 0"}, [&] {
    f.system.update(f.u, {.stage = 1, .low = {2, 0}}) = f.u;
  });
  f.system.update(f.u, {.low = {2, 0}}) = 3 * f.u + 1.0;
  t.refuse_all();
  f.system.record(f.u, {.points = {{1, 2}}});
  t.refuse_all();
  CHECK(stepped(f.system, f.u, f.c, f.p) == 4.0f);
  const StencilSystem::Description description(f.system, 1);
  const tessera_system_desc& d = *description.get();
  CHECK((d.field_count == 3 && d.update_count == 2 && d.injection_count == 0 && d.recording_count == 1));
}

TEST_CASE("a system has at most 64 fields, injections and recordings", "[system]") {
  StencilSystem system({6});
  const SystemField u = system.state("u");
  system.update(u) = 2 * u;
  for (int i = 0; i < TESSERA_MAX_POINT_SETS; ++i) system.inject(u, {}), system.record(u, {});
  check_throws("injections", kInvalid, {"injections = 65: must be at most 64"}, [&] { system.inject(u, {}); });
  check_throws("recordings", kInvalid, {"recordings = 65: must be at most 64"}, [&] { system.record(u, {}); });
  for (int i = 1; i < TESSERA_MAX_FIELDS; ++i) system.array("a" + std::to_string(i));
  check_throws("fields", kInvalid, {"fields = 65: must be at most 64"}, [&] { system.array("b"); });
  CHECK_NOTHROW(SystemPlan(fake(), system, 1));
}

TEST_CASE("expressions and taps that are refused stay as they were", "[system]") {
  Fields f;
  const auto same = [](const Expression& a, const Expression& b) {
    REQUIRE(a.groups().size() == b.groups().size());
    for (std::size_t i = 0; i < a.groups().size(); ++i) {
      CHECK(a.groups()[i].factors.size() == b.groups()[i].factors.size());
      REQUIRE(a.groups()[i].terms.size() == b.groups()[i].terms.size());
      for (std::size_t j = 0; j < a.groups()[i].terms.size(); ++j) {
        CHECK(a.groups()[i].terms[j].coefficient == b.groups()[i].terms[j].coefficient);
        CHECK(a.groups()[i].terms[j].factor_count == b.groups()[i].terms[j].factor_count);
      }
    }
    CHECK(a.fields().size() == b.fields().size());
  };
  // Its first group takes one value more; its second, of a full term, no neighbour.
  const Expression full = 2 * f.u + f.c * f.c * (f.u * f.u * f.u.at({0, 1}) + 0.5 * f.u);
  Expression e = full;
  CHECK_THROWS_AS(e *= 3.0 * f.p.at({0, 1}), Error);
  same(e, full);
  CHECK_THROWS_AS(e *= f.u + f.c, Error);
  same(e, full);
  CHECK_THROWS_AS(f.u.at({1}), Error);
  CHECK_THROWS_AS(f.u.under(Taps(1, {{{0, 0, 0}, 1.0}})), Error);
  e *= 2.0;
  e += 1.0;
  CHECK(e.groups()[0].terms[0].coefficient == 4.0);

  Taps taps(2, {{{0, 0, 0}, 1.0}});
  CHECK_THROWS_AS(taps.add({0, 0, 1}, 1.0), Error);
  CHECK_THROWS_AS(taps += Taps(3, {{{0, 0, 1}, 1.0}}), Error);
  CHECK((taps.size() == 1 && taps.begin()->coefficient == 1.0));
  taps.add({0, 1, 0}, 2.0);
  taps *= 2.0;
  CHECK((taps.size() == 2 && taps.begin()->coefficient == 2.0));
}

}  // namespace tessera::test
