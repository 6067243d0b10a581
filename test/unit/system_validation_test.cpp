// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Systems of fields: what is refused, and which levels may be overwritten.

#include "problem/system.hpp"

#include <tessera/plugin/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <string>
#include <vector>

namespace tessera::test {

using namespace tessera::core;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::int32_t kU = 0, kC2 = 1, kSponge = 2;

tessera_field field(const char* name, tessera_field_kind kind, std::int32_t levels = 0) {
  tessera_field f{};
  f.name = name, f.kind = kind, f.levels = levels;
  std::fill(f.strides, f.strides + TESSERA_MAX_RANK, TESSERA_PACKED);
  return f;
}

tessera_factor factor(std::int32_t of, std::int32_t level = 0, std::int64_t dy = 0, std::int64_t dx = 0) {
  return {of, level, TESSERA_MAP_IDENTITY, 0, {dy, dx, 0}};
}

/// u[+1] = sponge (2 u - u[-1] + c2 (u[-1, 0] + u[1, 0])), on 5 x 7 points, for tests to spoil.
struct Wave {
  std::vector<tessera_field> fields{field("u", TESSERA_FIELD_STATE, 2), field("c2", TESSERA_FIELD_ARRAY),
                                    field("sponge", TESSERA_FIELD_PROFILE)};
  std::vector<tessera_term> terms{{2.0, 1, {factor(kU)}},
                                  {-1.0, 1, {factor(kU, -1)}},
                                  {1.0, 2, {factor(kC2), factor(kU, 0, -1)}},
                                  {1.0, 2, {factor(kC2), factor(kU, 0, 1)}}};
  std::vector<tessera_group> groups{{1, {factor(kSponge)}, terms.data(), sizeof(tessera_term), 4}};
  std::vector<tessera_update> updates{{kU, 0, {}, {}, groups.data(), sizeof(tessera_group), 1}};
  std::vector<std::int64_t> places{2, 3, 4, 6}, series{0, 1};
  std::vector<double> weights{1.0, 0.5};
  tessera_points points{kU, 0, 2, places.data(), weights.data(), series.data(), 2};
  tessera_system_desc d{};

  Wave() {
    fields[kSponge].axis = 1;
    d.struct_size = sizeof d;
    d.op = TESSERA_OP_SYSTEM, d.dtype = TESSERA_F32, d.rank = 2, d.steps = 3;
    d.extents[0] = 5, d.extents[1] = 7;
    d.field_size = sizeof(tessera_field), d.update_size = sizeof(tessera_update),
    d.points_size = sizeof(tessera_points);
    d.injections = d.recordings = &points;
    d.injection_count = d.recording_count = 1;
  }
  Wave(const Wave&) = delete;

  System validated() {
    d.fields = fields.data(), d.field_count = std::int64_t(fields.size());
    d.updates = updates.data(), d.update_count = std::int64_t(updates.size());
    groups[0].terms = terms.data();
    return validate_system(&d);
  }
  std::string refusal() {
    try {
      validated();
    } catch (const plugin::Error& error) {
      CHECK(error.status() == TESSERA_INVALID_ARGUMENT);
      return error.what();
    }
    return "nothing was thrown";
  }
};

/// What is said of a wave that `spoil` has changed.
template <class Spoil>
std::string refusal(Spoil&& spoil) {
  Wave wave;
  spoil(wave);
  return wave.refusal();
}

}  // namespace

TEST_CASE("a wave is a valid system, stepped in place", "[system]") {
  Wave wave;
  const System system = wave.validated();
  CHECK(system.text == "system f32 5x7 fields=3 updates=1 steps=3");
  REQUIRE(system.fields.size() == 3);
  CHECK(system.fields[kU].oldest() == -1);
  CHECK(system.fields[kU].layout.strides[0] == 7);
  CHECK(system.fields[kSponge].layout.rank == 1);
  CHECK(system.fields[kSponge].layout.extents[0] == 7);
  CHECK(system.updates[0].high == System::Place{5, 7, 1});
  CHECK(system.injections[0].places[1] == System::Place{4, 6, 0});
  CHECK(why_not_in_place(system, kU).empty());
}

TEST_CASE("a system that is wrong is refused with what, where and the bound", "[system]") {
  const auto check = [](const std::string& message, auto&& spoil) { CHECK_THAT(refusal(spoil), StartsWith(message)); };
  check("dtype = f16: must be f32 or f64", [](Wave& w) { w.d.dtype = TESSERA_F16; });
  check("rank = 4: must be one of 1, 2, 3", [](Wave& w) { w.d.rank = 4; });
  check("extents[1] = 0: must be at least 1", [](Wave& w) { w.d.extents[1] = 0; });
  check("steps = -1: must be at least 0", [](Wave& w) { w.d.steps = -1; });
  check("fields[1].name = none", [](Wave& w) { w.fields[1].name = nullptr; });
  check("fields[1].name = 'u': is another field's", [](Wave& w) { w.fields[1].name = "u"; });
  check("u.levels = 4", [](Wave& w) { w.fields[0].levels = 4; });
  check("c2.levels = 2: must be one of 0: what is only read", [](Wave& w) { w.fields[1].levels = 2; });
  check("sponge.axis = 2", [](Wave& w) { w.fields[2].axis = 2; });
  check("c2.dtype = f64: must be f32", [](Wave& w) { w.fields[1].dtype = TESSERA_F64; });
  check("u.boundary[1][0] = halo: must be another mode",
        [](Wave& w) { w.fields[0].boundary[1][0] = TESSERA_BOUNDARY_HALO; });
  check("u.boundary[0] = periodic on one side",
        [](Wave& w) { w.fields[0].boundary[0][1] = TESSERA_BOUNDARY_PERIODIC; });
  check("u.strides = 1, 1 with extents 5, 7: points overlap",
        [](Wave& w) { w.fields[0].strides[0] = w.fields[0].strides[1] = 1; });
  check("u.strides = TESSERA_PACKED (kPacked) for 1 of 2 axes: must", [](Wave& w) { w.fields[0].strides[1] = 1; });
  check("injections[0] of 'u': weights = null: must point to 2 entries", [](Wave& w) { w.points.weights = nullptr; });
  check("injections[0] of 'u': series = null: must point to 2 entries", [](Wave& w) { w.points.series = nullptr; });
}

TEST_CASE("a box that is made is checked", "[system]") {
  const auto box = [](Wave& w) {
    w.d.steps = 1, w.d.low[1] = 2, w.d.high[0] = 5, w.d.high[1] = 7;
    w.places = {2, 3, 4, 6};
  };
  Wave good;
  box(good);
  const System system = good.validated();
  CHECK_FALSE(system.makes_all());
  CHECK(system.low == System::Place{0, 2, 0});
  CHECK(system.text == "system f32 5x7 box=0..5x2..7 fields=3 updates=1 steps=1");
  const auto check = [&](const std::string& message, auto&& spoil) {
    CHECK_THAT(refusal([&](Wave& w) { box(w), spoil(w); }), StartsWith(message));
  };
  check("steps = 2: must be at most 1 where a box is made", [](Wave& w) { w.d.steps = 2; });
  check("low[1], high = 2, 8: must be a range of [0, 7)", [](Wave& w) { w.d.high[1] = 8; });
  check("low[0], high = 5, 5: must be a range of [0, 5)", [](Wave& w) { w.d.low[0] = 5; });
  check("high = 0: must be behind low", [](Wave& w) { w.d.high[0] = w.d.high[1] = 0; });
  check("injections[0] of 'u': points[0], axis 1 = 1: must lie in [2, 7)", [](Wave& w) { w.places[1] = 1; });
  check("u.next = apart: must be in place where a box is made",
        [](Wave& w) { w.fields[kU].next = TESSERA_NEXT_APART; });
}

TEST_CASE("an update that is wrong is refused with what, where and the bound", "[system]") {
  const auto check = [](const std::string& message, auto&& spoil) { CHECK_THAT(refusal(spoil), StartsWith(message)); };
  check("updates[0].field = 3: must lie in [0, 3)", [](Wave& w) { w.updates[0].field = 3; });
  check("updates[0] = an update of 'c2': it is only read", [](Wave& w) { w.updates[0].field = kC2; });
  check("'u' has no update", [](Wave& w) { w.updates.clear(); });
  check("updates[0] of 'u': low[0], high = 3, 6: must be a range of [0, 5)",
        [](Wave& w) { w.updates[0].low[0] = 3, w.updates[0].high[0] = 6, w.updates[0].high[1] = 7; });
  check("updates[1] of 'u': its box overlaps", [](Wave& w) { w.updates.push_back(w.updates[0]); });
  check("updates[1] of 'u': stage = 1: 'u' is updated in stage 0 as well", [](Wave& w) {
    w.updates.push_back(w.updates[0]);
    w.updates[1].stage = 1;
  });
  check("updates[0] of 'u': groups[0].terms[2].coefficient = nan",
        [](Wave& w) { w.terms[2].coefficient = std::numeric_limits<double>::quiet_NaN(); });
  check("updates[0] of 'u': groups[0].terms[0].coefficient = 1e+300", [](Wave& w) { w.terms[0].coefficient = 1e300; });
  check("u[-2] in updates[0] of 'u': groups[0].terms[1].factors[0]: 'u' has the levels -1 to 0",
        [](Wave& w) { w.terms[1].factors[0].level = -2; });
  check("u[1] in updates[0] of 'u': groups[0].terms[1].factors[0]: stage 0 makes it, and this is stage 0",
        [](Wave& w) { w.terms[1].factors[0].level = 1; });
  check("c2[-1] in updates[0] of 'u': groups[0].terms[2].factors[0]: must be level 0: 'c2' is only read",
        [](Wave& w) { w.terms[2].factors[0].level = -1; });
  check("updates[0] of 'u': groups[0].terms[2].factors[1].field = 7", [](Wave& w) { w.terms[2].factors[1].field = 7; });
  check("updates[0] of 'u': groups[0].terms[0].factors[0].map = 5", [](Wave& w) { w.terms[0].factors[0].map = 5; });
  check("u at offset[1] = 1025 in updates[0] of 'u': groups[0].terms[0].factors[0]: must lie in [-1024, 1024]",
        [](Wave& w) { w.terms[0].factors[0].offset[1] = 1025; });
  check("sponge at offset[1] = 1 in updates[0] of 'u': groups[0].factors[0]: must be 0: the factors of a group",
        [](Wave& w) { w.groups[0].factors[0].offset[1] = 1; });
  check("sponge at offset[0] = 1 in updates[0] of 'u': groups[0].terms[0].factors[0]: must be 0: 'sponge' is a profile",
        [](Wave& w) { w.terms[0].factors[0] = factor(kSponge, 0, 1, 0); });
  check("updates[0] of 'u': groups[0].terms[0].factor_count = 4", [](Wave& w) { w.terms[0].factor_count = 4; });
  check("updates[0] of 'u': groups[0].term_count = 0", [](Wave& w) { w.groups[0].term_count = 0; });
  check("injections[0] of 'u': points[1], axis 1 = 7: must lie in [0, 7)", [](Wave& w) { w.places[3] = 7; });
  check("injections[0] of 'u': series[0] = 2: must lie in [0, 2)", [](Wave& w) { w.series[0] = 2; });
  check("injections[0] of 'u': weights[1] = inf",
        [](Wave& w) { w.weights[1] = std::numeric_limits<double>::infinity(); });
  check("injections[0] of 'c2': must be of a state", [](Wave& w) { w.points.field = kC2; });
}

TEST_CASE("a level that is read at neighbours, or later, is not overwritten", "[system]") {
  Wave wave;
  wave.terms[1].factors[0] = factor(kU, -1, 1);
  CHECK_THAT(why_not_in_place(wave.validated(), kU),
             ContainsSubstring("the update of 'u' in stage 0 reads level -1 of 'u' at neighbours"));

  // A second state, made later, that reads what the first has overwritten by then.
  Wave pair;
  pair.fields.push_back(field("v", TESSERA_FIELD_STATE, 1));
  std::vector<tessera_term> terms{{1.0, 1, {factor(kU, -1)}}};
  const tessera_group group{0, {}, terms.data(), sizeof(tessera_term), 1};
  pair.updates.push_back({3, 1, {}, {}, &group, sizeof(tessera_group), 1});
  CHECK_THAT(why_not_in_place(pair.validated(), kU), ContainsSubstring("reads level -1 of 'u', which stage 0 has"));
  CHECK(why_not_in_place(pair.validated(), 3).empty());
  pair.updates[1].stage = 0;  // in the same stage all is read at a point before anything is stored there
  CHECK(why_not_in_place(pair.validated(), kU).empty());

  // One level: the next takes the place of the one that neighbours read.
  Wave heat;
  heat.fields[kU].levels = 1;
  heat.terms[1].factors[0].level = 0;
  CHECK_THAT(why_not_in_place(heat.validated(), kU), ContainsSubstring("reads level 0 of 'u' at neighbours"));
}

}  // namespace tessera::test
