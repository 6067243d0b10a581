// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_cases.hpp"

#include "random.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::test {

namespace {

/// As many as there are axes.
Integers zeros(const Integers& extents) { return Integers(std::vector<std::int64_t>(extents.size(), 0)); }

/// A star of each form that fast algorithms take, with the extents, the type and the levels that its number says.
SystemCase star_case(int form, int radius, int number) {
  constexpr std::array<std::int64_t, 6> kRows{132, 33, 71, 5, 64, 130}, kPlanes{3, 35, 11, 9, 40, 18};
  const auto pick = [number](const auto& list) { return list[std::size_t(number) % list.size()]; };
  const DType dtype = WideTypes::kDTypes[number % 2];
  const Integers extents{pick(kPlanes), 9 + 3 * radius, pick(kRows)};
  StencilSystem system(extents, dtype);
  const auto u =
      system.state("u", {.levels = 2 + number % 2, .next = number % 3 == 0 ? NextLevel::apart : NextLevel::automatic});
  const auto star = u.under(0.05 * taps::laplacian(3, 2 * radius) + Taps(3, {{{1, 0, 0}, 0.02}}));
  const auto a = system.array("a"), b = system.array("b"), s = system.profile("s", number % 3);
  const Expression both = 1.5 * u - 0.7 * u[-1];
  const Expression forms[] = {star, star + 0.3 * u[-1], 0.9 * u + a * star, both + a * star, b * both + a * star};
  system.update(u) = number % 4 == 3 ? forms[form] : s * forms[form];
  return {"star of form " + std::to_string(form) + ", radius " + std::to_string(radius), std::move(system), 3,
          radius == 4};
}

/// A star on some planes of its domain, or on a box of it.
SystemCase star_in_a_box(int form, int radius, bool planes) {
  SystemCase c = star_case(form, radius, 3 * (form + 5 * radius) + 1);  // which goes on in place
  const Integers extents = c.system.extents();
  Integers low{extents[0] / 3, 0, 0}, high{extents[0] - extents[0] / 4, extents[1], extents[2]};
  if (!planes) low = {0, 2, 1}, high = {extents[0] - 1, extents[1], extents[2] - 2};
  c.system.within(low, high);
  c.name += planes ? ", on some planes" : ", in a box";
  c.steps = 1;
  return c;
}

/// Two fields of which each reads the other, in a box, with points in it.
SystemCase pair_in_a_box(int axes, const SystemStyle& style) {
  Integers extents(std::vector<std::int64_t>(std::size_t(axes), axes == 1 ? 150 : 17)), low = extents, high = extents;
  for (std::int64_t& x : low) x = 1;
  for (std::int64_t& x : high) x -= 3;
  StencilSystem system(extents, style.dtype);
  const FieldOptions options{.levels = 2, .boundary = style.boundary, .dtype = style.storage};
  const auto u = system.state("u", options), v = system.state("v", options), a = system.array("a", options);
  Integers ahead = zeros(extents), behind = zeros(extents);
  ahead[0] = 2, behind[std::size_t(axes - 1)] = -1;
  system.update(u) = 0.5 * u - 0.2 * u[-1] + 0.1 * a.at(ahead) * v.at(behind);
  system.update(v) = 0.3 * v + 0.2 * u.at(ahead) - 0.1 * a * v[-1];
  system.within(low, high);
  SeriesPoints points{{}, {}, {}, 2};
  for (int i = 0; i < 3; ++i) {
    std::array<std::int64_t, TESSERA_MAX_RANK> place{};
    for (int axis = 0; axis < axes; ++axis) place[std::size_t(axis)] = 1 + 3 * i;
    points.points.push_back(place), points.weights.push_back(0.5 + i), points.series.push_back(i % 2);
  }
  system.inject(u, points), system.record(v, points);
  return {"a pair in a box, " + std::to_string(axes) + "D", std::move(system), 1};
}

/// Points at corners, on edges and faces, and around places where tiles of 64 by 64 or 64 by 32 points meet, some of
/// them twice.
SeriesPoints scattered(const Integers& extents, std::int64_t series, Random& random) {
  SeriesPoints points{{}, {}, {}, series};
  for (int i = 0; i < 24; ++i) {
    std::array<std::int64_t, TESSERA_MAX_RANK> place{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::array<std::int64_t, 6> there{0, extents[axis] - 1, 25, 29, random.integer(52, 63), extents[axis] / 2};
      place[axis] = std::min(there[std::size_t(random.integer(0, 5))], extents[axis] - 1);
    }
    for (int twice = 0; twice <= i % 2; ++twice) {
      points.points.push_back(place);
      points.weights.push_back(random.uniform());
      points.series.push_back(random.integer(0, series - 1));
    }
  }
  return points;
}

/// A wave on domains of one tile and of several, in so many steps, with points in their overlap. From number 16 on with
/// radius 2 and 3, smaller.
SystemCase wave_in_passes(int number) {
  constexpr std::array<std::int64_t, 8> kPlanes{7, 40, 5, 12, 6, 9, 36, 3}, kMiddle{70, 36, 11, 130, 64, 33, 121, 66},
      kRows{132, 33, 64, 7, 200, 130, 58, 57}, kSteps{4, 7, 2, 5, 9, 3, 8, 11};
  const std::string name = "wave in passes, " + std::to_string(number);
  Random random(name);
  const auto pick = [number](const auto& list) { return list[std::size_t(number % 8)]; };
  const std::int64_t most = number < 16 ? 200 : 70;
  const Integers extents{std::min(pick(kPlanes), most / 5), std::min(pick(kMiddle), most),
                         std::min(pick(kRows), 2 * most)};
  const bool medium = number % 3 != 1, sponge = number % 4 < 2;
  const int radius = number < 16 ? 1 : 2 + number / 2 % 2;
  StencilSystem system(extents, WideTypes::kDTypes[(number + number / 8) % 2]);
  const auto u = system.state("u", {.levels = 2, .next = number % 5 == 4 ? NextLevel::apart : NextLevel::automatic});
  const auto star = u.under(0.05 * taps::laplacian(3, 2 * radius) + Taps(3, {{{1, 0, 0}, 0.02}, {{0, -1, 0}, 0.01}}));
  Expression next = 1.9 * u - 0.95 * u[-1] + (medium ? system.array("a") * star : 1 * star);
  if (sponge)
    for (int axis = 0; axis < 3; ++axis)
      if (axis != number % 3) next *= system.profile("s" + std::to_string(axis), axis);
  system.update(u) = next;
  for (int set = 0; set < number % 3; ++set) system.inject(u, scattered(extents, 3, random));
  for (int set = 0; set < number % 4; ++set) system.record(u, scattered(extents, 5, random));
  return {name, std::move(system), std::min(pick(kSteps), most / 10), number < 8 || number % 4 == 0};
}

/// Arrays whose strides differ: each store and each load by its own.
SystemCase different_strides(bool first_packed) {
  StencilSystem system({4, 5, 8});
  const auto packed = system.state("p", {.levels = 2}),
             wide = system.state("q", {.levels = 2, .strides = {100, 12, 1}});
  const auto &first = first_packed ? packed : wide, &second = first_packed ? wide : packed;
  system.update(first) = 0.5 * first + 0.1 * first.at({0, 1, 0});
  system.update(second) = 0.25 * second + 0.1 * second[-1];
  return {std::string("strides that differ, ") + (first_packed ? "packed first" : "packed last"), std::move(system), 3};
}

/// States that read in one stage what others overwrite in it.
SystemCase entangled(int states) {
  StencilSystem system({5, 6, 40});
  std::vector<SystemField> fields;
  for (int f = 0; f < states; ++f) fields.push_back(system.state("f" + std::to_string(f), {.levels = 1 + f % 2}));
  for (int f = 0; f < states; ++f) {
    const SystemField& other = fields[std::size_t((f + 1) % states)];
    system.update(fields[std::size_t(f)]) =
        0.6 * fields[std::size_t(f)] + 0.3 * other[(f + 1) % states % 2 == 0 ? 0 : -1];
  }
  return {std::to_string(states) + " states that read each other", std::move(system), 3};
}

/// The extents of a case of three axes, aligned and not, and its type.
StencilSystem volume(int number) {
  constexpr std::array<std::int64_t, 6> kRows{132, 33, 64, 7, 200, 130}, kPlanes{7, 20, 5, 12, 6, 9};
  return StencilSystem({kPlanes[std::size_t(number)], 11 + number, kRows[std::size_t(number)]},
                       WideTypes::kDTypes[number % 2]);
}

Integers unit(int axis, std::int64_t distance = 1) {
  Integers offset{0, 0, 0};
  offset[std::size_t(axis)] = distance;
  return offset;
}

/// Three velocities and six stresses on a staggered grid, order 4, or 2 for each third.
SystemCase elastic_in_3d(int number) {
  StencilSystem system = volume(number);
  const bool near = number % 3 == 2;
  const auto ahead = [near](const SystemField& f, int axis) -> Expression {
    if (near) return f.at(unit(axis)) - f;
    return 1.125 * (f.at(unit(axis)) - f) - 0.041666 * (f.at(unit(axis, 2)) - f.at(unit(axis, -1)));
  };
  const auto behind = [near](const SystemField& f, int axis) -> Expression {
    if (near) return f - f.at(unit(axis, -1));
    return 1.125 * (f - f.at(unit(axis, -1))) - 0.041666 * (f.at(unit(axis)) - f.at(unit(axis, -2)));
  };
  std::vector<SystemField> v, normal, shear;
  for (const char* name : {"v0", "v1", "v2"}) v.push_back(system.state(name));
  for (const char* name : {"s00", "s11", "s22"}) normal.push_back(system.state(name));
  for (const char* name : {"s12", "s02", "s01"}) shear.push_back(system.state(name));  // by the axis that is not there
  const auto buoyancy = system.array("b"), lambda = system.array("lambda"), mu = system.array("mu");
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    system.update(v[std::size_t(a)]) =
        v[std::size_t(a)] +
        0.3 * buoyancy *
            (ahead(normal[std::size_t(a)], a) + behind(shear[std::size_t(c)], b) + behind(shear[std::size_t(b)], c));
    const auto of = [&](int axis) { return behind(v[std::size_t(axis)][+1], axis); };
    system.update(normal[std::size_t(a)], {.stage = 1}) =
        normal[std::size_t(a)] + 0.3 * lambda * (of(0) + of(1) + of(2)) + 0.6 * mu * of(a);
    system.update(shear[std::size_t(a)], {.stage = 1}) =
        shear[std::size_t(a)] +
        0.3 * reciprocal(mu) * (ahead(v[std::size_t(b)][+1], c) + ahead(v[std::size_t(c)][+1], b));
  }
  return {"elastic in 3D, " + std::to_string(number), std::move(system), 3, number % 2 == 0};
}

/// Diffusion through faces, with a weight for each neighbour.
SystemCase faces(int number) {
  StencilSystem system = volume(number);
  const auto u = system.state("u", {.levels = 1 + number % 2}), k = system.array("k");
  Expression next = 1 * u;
  for (int axis = 0; axis < 3; ++axis)
    for (const int side : {-1, 1}) {
      const double w = 0.04 + 0.01 * axis + 0.003 * side;
      const auto there = u.at(unit(axis, side)), k_there = k.at(unit(axis, side));
      next += w * k * there + w * k_there * there - w * k * u - w * k_there * u;
    }
  system.update(u) = next;
  return {"diffusion through faces, " + std::to_string(number), std::move(system), 3, number % 2 == 0};
}

/// Fields, offsets, levels, maps, groups, boxes and stages by chance.
class RandomSystem {
 public:
  explicit RandomSystem(const std::string& name) : random_(name), extents_(some_extents()), system_(extents_, type()) {
    states_ = int(random_.integer(1, 3));
    const int arrays = int(random_.integer(0, 2));
    for (int f = 0; f < states_ + arrays; ++f) add_field(f);
    for (int f = 0; f < states_; ++f) update(f);
  }
  SystemCase made(const std::string& name) { return {name, std::move(system_), random_.integer(1, 5)}; }

 private:
  bool chance(int of) { return random_.integer(1, of) == 1; }
  DType type() { return WideTypes::kDTypes[random_.integer(0, 1)]; }
  Integers some_extents() {
    constexpr std::array<std::int64_t, 3> kMost{200, 40, 17};
    Integers extents(std::vector<std::int64_t>(std::size_t(random_.integer(1, 3))));
    for (std::int64_t& extent : extents) extent = random_.integer(1, kMost[extents.size() - 1]);
    return extents;
  }

  void add_field(int f) {
    constexpr std::array kModes{Boundary::fixed,   Boundary::constant, Boundary::periodic,
                                Boundary::nearest, Boundary::reflect,  Boundary::mirror};
    std::vector<BoundaryAxis> sides;
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      const auto low = kModes[std::size_t(random_.integer(0, 5))], high = kModes[std::size_t(random_.integer(0, 5))];
      const bool periodic = low == Boundary::periodic || high == Boundary::periodic;
      const auto side = [&](Boundary mode) { return BoundarySide{periodic ? Boundary::periodic : mode, 0.25}; };
      sides.push_back({side(low), side(high)});
    }
    FieldOptions options{.levels = int(random_.integer(1, 3)), .boundary = Boundaries(sides)};
    if (chance(4)) options.dtype = NarrowTypes::kDTypes[random_.integer(0, 1)];
    const std::string name = "f" + std::to_string(f);
    fields_.push_back(f < states_ ? system_.state(name, options) : system_.array(name, options));
    levels_.push_back(f < states_ ? options.levels : 1);
  }

  /// A field, as an update of that stage may read it. State s is made in stage s.
  SystemField value(int stage, bool pointwise) {
    const auto f = std::size_t(random_.integer(0, std::int64_t(fields_.size()) - 1));
    const bool made = int(f) < states_ && int(f) < stage && chance(2);
    SystemField field = fields_[f][made ? 1 : -int(random_.integer(0, levels_[f] - 1))];
    Integers offset = zeros(extents_);
    for (std::int64_t& distance : offset) distance = pointwise || chance(2) ? 0 : random_.integer(-3, 3);
    field = field.at(offset);
    return chance(4) ? abs(field) : chance(6) ? positive_part(field) : chance(6) ? negative_part(field) : field;
  }
  Expression expression(int stage) {
    Expression sum = 0.1;
    for (int group = int(random_.integer(1, 3)); group > 0; --group) {
      Expression terms = 0.05 * value(stage, false);
      for (int term = int(random_.integer(0, 11)); term > 0; --term) {
        Expression product = 0.05 * random_.uniform() * value(stage, false);
        if (chance(3)) product *= value(stage, false);
        if (chance(5)) product *= value(stage, false);
        terms += product;
      }
      for (int factor = int(random_.integer(0, 2)); factor > 0; --factor) terms *= value(stage, true);
      sum += terms;
    }
    return sum;
  }

  /// Of the whole domain, or of two boxes with a gap between them where there is room.
  void update(int f) {
    const SystemField& field = fields_[std::size_t(f)];
    if (!chance(3) || extents_[0] < 2) {
      system_.update(field, {.stage = f}) = expression(f);
      return;
    }
    Integers low = zeros(extents_), high = extents_;
    high[0] = extents_[0] / 2;
    system_.update(field, {.stage = f, .low = low, .high = high}) = expression(f);
    low[0] = high[0] + (extents_[0] > 3 ? 1 : 0), high[0] = extents_[0];
    system_.update(field, {.stage = f, .low = low, .high = high}) = expression(f);
  }

  Random random_;
  Integers extents_;
  StencilSystem system_;
  int states_ = 0;
  std::vector<SystemField> fields_;
  std::vector<int> levels_;
};

SystemCase random_system(int number) {
  const std::string name = "random system " + std::to_string(number);
  return RandomSystem(name).made(name);
}

}  // namespace

std::vector<SystemCase> special_systems(int random) {
  std::vector<SystemCase> cases;
  for (int form = 0, number = 0; form < 5; ++form)
    for (int radius = 1; radius <= 4; ++radius)
      for (int i = 0; i < 2; ++i) cases.push_back(star_case(form, radius, number++));
  for (int number = 0; number < 24; ++number) cases.push_back(wave_in_passes(number));
  for (const bool first : {true, false}) cases.push_back(different_strides(first));
  for (const int states : {2, 5, 8}) cases.push_back(entangled(states));
  for (int number = 0; number < 6; ++number) cases.push_back(elastic_in_3d(number)), cases.push_back(faces(number));
  for (int form = 0; form < 5; ++form)
    for (int radius = 1; radius <= 4; ++radius)
      for (const bool planes : {true, false}) cases.push_back(star_in_a_box(form, radius, planes));
  cases.push_back(pair_in_a_box(1, {}));
  cases.push_back(pair_in_a_box(2, {DType::f64, DType::f32, Boundary::periodic}));
  cases.push_back(pair_in_a_box(3, {DType::f32, DType::bf16, Boundary::mirror}));
  for (int i = 0; i < random; ++i) cases.push_back(random_system(i));
  return cases;
}

}  // namespace tessera::test
