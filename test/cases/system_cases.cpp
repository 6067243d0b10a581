// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_cases.hpp"

#include "random.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace tessera::test {

namespace {

/// As many as there are axes.
Integers zeros(const Integers& extents) { return Integers(std::vector<std::int64_t>(extents.size(), 0)); }

/// Builds fields of a style on a domain.
class Builder {
 public:
  Builder(Integers extents, const SystemStyle& style)
      : system(extents, style.dtype), extents_(std::move(extents)), style_(style) {}

  SystemField state(const char* name, int levels = 1) { return system.state(name, options(levels, true)); }
  SystemField array(const char* name) { return system.array(name, options(1, true)); }
  SystemField profile(const char* name, int axis) { return system.profile(name, axis, options(1, false)); }

  int rank() const { return int(extents_.size()); }
  Integers unit(int axis, std::int64_t distance = 1) const {
    Integers offset = zeros(extents_);
    offset[std::size_t(axis)] = distance;
    return offset;
  }
  /// The difference of two neighbours: to the one before, or from it.
  Expression forward(const SystemField& f, int axis) const { return f.at(unit(axis)) - f; }
  Expression backward(const SystemField& f, int axis) const { return f - f.at(unit(axis, -1)); }

  /// Points inside, on a face, an edge and a corner, some of them twice.
  SeriesPoints points(std::int64_t series) const {
    SeriesPoints p{{}, {}, {}, series};
    const auto at = [&](double part) {
      std::array<std::int64_t, TESSERA_MAX_RANK> place{};
      for (std::size_t axis = 0; axis < extents_.size(); ++axis)
        place[axis] = std::int64_t(part * double(extents_[axis] - 1));
      return place;
    };
    for (const double part : {0.5, 0.0, 1.0, 0.3, 0.5, 0.7}) {
      p.points.push_back(at(part));
      p.weights.push_back(0.25 + part);
      p.series.push_back(std::int64_t(p.series.size()) % series);
    }
    p.points[3][0] = 0;
    return p;
  }

  StencilSystem system;

 private:
  FieldOptions options(int levels, bool grid) const {
    FieldOptions o{.levels = levels, .boundary = style_.boundary, .dtype = style_.storage};
    if (!style_.gaps) return o;
    if (!grid) {
      o.strides = {2};
      return o;
    }
    std::int64_t stride = 2;
    o.strides = zeros(extents_);
    for (std::size_t axis = extents_.size(); axis-- > 0;) {
      o.strides[axis] = stride;
      stride = stride * extents_[axis] + 3;
    }
    return o;
  }

  Integers extents_;
  SystemStyle style_;
};

/// u'' = c^2 laplacian(u), damped in a sponge, with a source and receivers.
void wave(Builder& b, int order) {
  const auto u = b.state("u", 2), c2 = b.array("c2");
  Expression next = 2 * u - u[-1] + c2 * u.under(taps::laplacian(b.rank(), order));
  for (int axis = 0; axis < b.rank(); ++axis) next *= b.profile(std::array{"s0", "s1", "s2"}[std::size_t(axis)], axis);
  b.system.update(u) = next;
  b.system.inject(u, b.points(2));
  b.system.record(u, b.points(3));
}

void wave_of_constant_speed(Builder& b) {
  const auto u = b.state("u", 2);
  b.system.update(u) = 2 * u - u[-1] + 0.05 * u.under(taps::laplacian(b.rank(), 8));
}

/// u' = div(k grad u), k between points the mean of both.
void diffusion(Builder& b) {
  const auto u = b.state("u"), k = b.array("k");
  Expression next = 1 * u;
  for (int axis = 0; axis < b.rank(); ++axis)
    for (const int side : {-1, 1}) {
      const auto there = u.at(b.unit(axis, side)), k_there = k.at(b.unit(axis, side));
      next += 0.05 * k * there + 0.05 * k_there * there - 0.05 * k * u - 0.05 * k_there * u;
    }
  b.system.update(u) = next;
}

void gray_scott(Builder& b) {
  const auto u = b.state("u"), v = b.state("v");
  const Taps laplacian = taps::laplacian(b.rank());
  b.system.update(u) = 0.16 * u.under(laplacian) + u - u * v * v + 0.04 - 0.04 * u;
  b.system.update(v) = 0.08 * v.under(laplacian) + v + u * v * v - 0.1 * v;
}

/// Pressure and velocities on staggered grids, with 1 / density, and a layer along one side with an equation of its
/// own.
void acoustics(Builder& b, const Integers& extents) {
  const auto p = b.state("p"), rho = b.array("rho"), kappa = b.array("kappa");
  Expression divergence = 1 * p;
  for (int axis = 0; axis < b.rank(); ++axis) {
    const auto v = b.state(std::array{"v0", "v1", "v2"}[std::size_t(axis)]);
    Integers low = zeros(extents), high = extents;
    high[0] = extents[0] / 2;
    b.system.update(v, {.low = low, .high = high}) = v - 0.3 * (reciprocal(rho) * b.forward(p, axis));
    low[0] = high[0], high[0] = extents[0];
    b.system.update(v, {.low = low, .high = high}) = 0.9 * v - 0.2 * (reciprocal(rho) * b.forward(p, axis));
    divergence += -0.3 * (kappa * b.backward(v[+1], axis));
  }
  b.system.update(p, {.stage = 1}) = divergence;
  b.system.inject(p, b.points(1), 1);
  b.system.record(p, b.points(6), 1);
}

/// Six fields of a staggered grid.
void maxwell(Builder& b) {
  std::array<SystemField, 3> e{b.state("ex"), b.state("ey"), b.state("ez")};
  std::array<SystemField, 3> h{b.state("hx"), b.state("hy"), b.state("hz")};
  const auto eps = b.array("eps");
  for (int axis = 0; axis < 3; ++axis) {  // x is the last axis
    const auto own = std::size_t(axis), next = std::size_t((axis + 1) % 3), last = std::size_t((axis + 2) % 3);
    b.system.update(h[own]) = h[own] - 0.4 * (b.forward(e[last], 2 - int(next)) - b.forward(e[next], 2 - int(last)));
    b.system.update(e[own], {.stage = 1}) =
        e[own] +
        0.4 * reciprocal(eps) * (b.backward(h[last][+1], 2 - int(next)) - b.backward(h[next][+1], 2 - int(last)));
  }
}

/// Two velocities and three stresses, order 4.
void elastic(Builder& b) {
  const auto vz = b.state("vz"), vx = b.state("vx");
  const auto szz = b.state("szz"), sxx = b.state("sxx"), sxz = b.state("sxz");
  const auto buoyancy = b.array("b"), lambda = b.array("lambda"), mu = b.array("mu");
  const auto ahead = [&](const SystemField& f, int axis) {
    return 1.125 * (f.at(b.unit(axis)) - f) - 0.041666 * (f.at(b.unit(axis, 2)) - f.at(b.unit(axis, -1)));
  };
  const auto behind = [&](const SystemField& f, int axis) {
    return 1.125 * (f - f.at(b.unit(axis, -1))) - 0.041666 * (f.at(b.unit(axis)) - f.at(b.unit(axis, -2)));
  };
  b.system.update(vz) = vz + 0.3 * buoyancy * (ahead(szz, 0) + behind(sxz, 1));
  b.system.update(vx) = vx + 0.3 * buoyancy * (ahead(sxx, 1) + behind(sxz, 0));
  const auto dz = behind(vz[+1], 0), dx = behind(vx[+1], 1);
  b.system.update(szz, {.stage = 1}) = szz + 0.3 * lambda * (dz + dx) + 0.6 * mu * dz;
  b.system.update(sxx, {.stage = 1}) = sxx + 0.3 * lambda * (dz + dx) + 0.6 * mu * dx;
  b.system.update(sxz, {.stage = 1}) = sxz + 0.3 * mu * (ahead(vz[+1], 1) + ahead(vx[+1], 0));
  b.system.record(vz, b.points(2), 1);
}

/// Upwind: the velocity's sign decides which neighbour is read.
void advection(Builder& b) {
  const auto q = b.state("q");
  Expression next = 1 * q;
  for (int axis = 0; axis < b.rank(); ++axis) {
    const auto w = b.array(std::array{"w0", "w1", "w2"}[std::size_t(axis)]);
    next += -0.2 * (positive_part(w) * b.backward(q, axis)) - 0.2 * (negative_part(w) * b.forward(q, axis));
  }
  b.system.update(q) = next;
}

void burgers(Builder& b) {
  const auto u = b.state("u", 2);
  b.system.update(u) = u - 0.1 * (positive_part(u) * b.backward(u, 0)) - 0.1 * (negative_part(u) * b.forward(u, 0)) +
                       0.05 * u.under(taps::laplacian(b.rank()));
}

void allen_cahn(Builder& b) {
  const auto u = b.state("u");
  b.system.update(u) = u + 0.1 * u.under(taps::laplacian(b.rank())) + 0.1 * (u - u * u * u);
}

/// Lax-Friedrichs along one axis: h' = -(hu)_x, (hu)' = -((hu)^2 / h + h^2 / 2)_x.
void shallow_water(Builder& b) {
  const auto h = b.state("h", 2), m = b.state("m", 2);
  const int axis = b.rank() - 1;
  const auto left = [&](const SystemField& f) { return f.at(b.unit(axis, -1)); };
  const auto right = [&](const SystemField& f) { return f.at(b.unit(axis)); };
  b.system.update(h) = 0.5 * left(h) + 0.5 * right(h) - 0.1 * right(m) + 0.1 * left(m);
  b.system.update(m) = 0.5 * left(m) + 0.5 * right(m) - 0.1 * (right(m) * right(m) * reciprocal(right(h))) +
                       0.1 * (left(m) * left(m) * reciprocal(left(h))) - 0.05 * (right(h) * right(h)) +
                       0.05 * (left(h) * left(h));
}

/// Three levels, of which the oldest is read at neighbours, and a field that reads another's new level.
void three_levels(Builder& b) {
  const auto u = b.state("u", 3), v = b.state("v", 2);
  b.system.update(u) = 0.5 * u + 0.2 * u[-1].at(b.unit(0)) + 0.2 * u[-2].at(b.unit(b.rank() - 1, -2)) + 0.1 * v;
  b.system.update(v, {.stage = 2}) = 0.4 * u[+1].at(b.unit(0, -1)) - 0.3 * abs(v[-1]) + 0.25 * v;
  b.system.record(u, b.points(2), 1);
  b.system.inject(v, b.points(2), 3);
}

}  // namespace

std::vector<SystemCase> known_systems(const Integers& extents, const SystemStyle& style, const std::string& suffix) {
  std::vector<SystemCase> cases;
  const auto add = [&](const std::string& name, std::int64_t steps, const std::function<void(Builder&)>& build) {
    Builder b(extents, style);
    build(b);
    cases.push_back({name + suffix, std::move(b.system), steps});
  };
  const std::size_t rank = extents.size();
  for (const int order : {2, 4, 6, 8})
    add("wave of order " + std::to_string(order), 5, [&](Builder& b) { wave(b, order); });
  add("wave of constant speed", 4, wave_of_constant_speed);
  add("diffusion", 3, diffusion);
  add("Gray-Scott", 3, gray_scott);
  add("acoustics", 3, [&](Builder& b) { acoustics(b, extents); });
  if (rank == 3) add("Maxwell", 3, maxwell);
  if (rank == 2) add("elastic", 2, elastic);
  add("advection", 3, advection);
  add("Burgers", 4, burgers);
  add("Allen-Cahn", 3, allen_cahn);
  add("shallow water", 4, shallow_water);
  add("three levels", 7, three_levels);
  return cases;
}

std::vector<SystemCase> system_cases(int random) {
  std::vector<SystemCase> cases;
  const auto add = [&](const Integers& extents, const SystemStyle& style, const std::string& suffix, bool essential) {
    for (SystemCase& c : known_systems(extents, style, suffix)) {
      c.essential = essential;
      cases.push_back(std::move(c));
    }
  };
  constexpr auto f32 = DType::f32, f64 = DType::f64;
  add({301}, {}, ", 1D", true);
  add({37, 70}, {f64, f64, Boundary::periodic}, ", 2D f64 periodic", true);
  add({12, 19, 40}, {}, ", 3D", true);
  add({20, 36, 132}, {}, ", 3D, wide", false);
  add({9, 10, 33}, {f64, f64, Boundary::mirror}, ", 3D f64 mirror", false);
  add({11, 12, 34}, {f32, f32, Boundary::reflect, true}, ", 3D reflect, gaps", true);
  add({13, 9, 32}, {f32, DType::bf16, Boundary::nearest}, ", 3D bf16 nearest", true);
  add({14, 41}, {f32, DType::f16, BoundarySide{Boundary::constant, 0.5}}, ", 2D f16 constant", false);
  add({7, 9, 20}, {f64, f32, Boundary::fixed}, ", 3D f32 in f64", false);
  add({3, 2, 5}, {f32, f32, Boundary::periodic}, ", smaller than the reach", true);
  for (SystemCase& c : special_systems(random)) cases.push_back(std::move(c));
  return cases;
}

}  // namespace tessera::test
