// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "systems.hpp"

#include "wave.hpp"

#include <set>
#include <string_view>
#include <tuple>

namespace tessera::perf {

namespace {

constexpr const char* kAxes[] = {"z", "y", "x"};

/// Builds one of the systems.
class Builder {
 public:
  Builder(const SystemShape& shape, DType dtype)
      : system({shape.extents.end() - shape.rank, shape.extents.end()}, dtype), shape_(shape) {}

  void wave();
  void diffusion();
  void maxwell();
  void elastic();
  void gray_scott();
  void burgers();
  void allen_cahn();

  StencilSystem system;

 private:
  SystemField state(const std::string& name, int levels = 1, Boundary boundary = Boundary::fixed) {
    return system.state(name, {.levels = levels, .boundary = boundary});
  }
  Integers unit(int axis, std::int64_t distance = 1) const {
    std::vector<std::int64_t> offset(std::size_t(shape_.rank), 0);
    offset[std::size_t(axis)] = distance;
    return offset;
  }
  Expression forward(const SystemField& f, int axis) const { return f.at(unit(axis)) - f; }
  Expression backward(const SystemField& f, int axis) const { return f - f.at(unit(axis, -1)); }
  /// Staggered differences of order 4: at half a point ahead, and behind.
  Expression ahead(const SystemField& f, int axis) const {
    return 1.125 * (f.at(unit(axis)) - f) - 0.041666 * (f.at(unit(axis, 2)) - f.at(unit(axis, -1)));
  }
  Expression behind(const SystemField& f, int axis) const {
    return 1.125 * (f - f.at(unit(axis, -1))) - 0.041666 * (f.at(unit(axis)) - f.at(unit(axis, -2)));
  }

  const SystemShape& shape_;
};

/// u'' = c^2 laplacian(u). The sponge's profiles multiply all of it.
void Builder::wave() {
  const auto u = state("u", 2);
  const Taps laplacian = taps::laplacian(shape_.rank, shape_.order);
  Expression next =
      2 * u - u[-1] + (shape_.varying ? system.array("c2") * u.under(laplacian) : kSpeed2 * u.under(laplacian));
  if (shape_.sponge)
    for (int axis = 0; axis < shape_.rank; ++axis)
      next *= system.profile(std::string("s") + kAxes[3 - shape_.rank + axis], axis);
  system.update(u) = next;
  if (!shape_.sponge) return;
  system.inject(u, {{source_place(shape_)}, {1.0}, {0}, 1});
  SeriesPoints receivers{{}, {}, {}, kReceivers};
  for (int i = 0; i < kReceivers; ++i) {
    receivers.points.push_back(receiver_place(shape_, i));
    receivers.weights.push_back(1.0);
    receivers.series.push_back(i);
  }
  system.record(u, receivers);
}

/// u' = div(k grad u), k between points the mean of both. Neighbours are read, so that the next level needs an array of
/// its own: a second level is one that executions of one step need not copy from.
void Builder::diffusion() {
  const auto u = state("u", 2), k = system.array("k");
  Expression next = 1 * u;
  for (int axis = 0; axis < shape_.rank; ++axis)
    for (const int side : {-1, 1}) {
      const auto there = u.at(unit(axis, side)), k_there = k.at(unit(axis, side));
      next += 0.05 * k * there + 0.05 * k_there * there - 0.05 * k * u - 0.05 * k_there * u;
    }
  system.update(u) = next;
}

/// Six fields of a staggered grid.
void Builder::maxwell() {
  const std::array<SystemField, 3> e{state("ex"), state("ey"), state("ez")};
  const std::array<SystemField, 3> h{state("hx"), state("hy"), state("hz")};
  const auto eps = system.array("eps");
  for (int axis = 0; axis < 3; ++axis) {  // x is the last axis
    const auto own = std::size_t(axis), next = std::size_t((axis + 1) % 3), last = std::size_t((axis + 2) % 3);
    system.update(h[own]) = h[own] - 0.4 * (forward(e[last], 2 - int(next)) - forward(e[next], 2 - int(last)));
    system.update(e[own], {.stage = 1}) =
        e[own] + 0.4 * reciprocal(eps) * (backward(h[last][+1], 2 - int(next)) - backward(h[next][+1], 2 - int(last)));
  }
}

/// Three velocities and six stresses, order 4: v' = b div(s), s' = lambda tr(grad v) + mu (grad v + its transpose).
void Builder::elastic() {
  std::vector<SystemField> v, normal, shear;  // shear[i]: of the axes other than i
  for (int i = 0; i < 3; ++i) v.push_back(state(std::string("v") + kAxes[i]));
  for (int i = 0; i < 3; ++i) normal.push_back(state(std::string("s") + kAxes[i] + kAxes[i]));
  for (int i = 0; i < 3; ++i) shear.push_back(state(std::string("s") + kAxes[(i + 1) % 3] + kAxes[(i + 2) % 3]));
  const auto buoyancy = system.array("b"), lambda = system.array("lambda"), mu = system.array("mu");
  std::optional<Expression> divergence;
  for (int i = 0; i < 3; ++i) {
    const auto own = std::size_t(i), next = std::size_t((i + 1) % 3), last = std::size_t((i + 2) % 3);
    system.update(v[own]) =
        v[own] +
        0.3 * buoyancy * (ahead(normal[own], i) + behind(shear[last], int(next)) + behind(shear[next], int(last)));
    const Expression along = behind(v[own][+1], i);
    divergence = divergence ? *divergence + along : along;
    system.update(shear[own], {.stage = 1}) =
        shear[own] + 0.3 * mu * (ahead(v[next][+1], int(last)) + ahead(v[last][+1], int(next)));
  }
  for (int i = 0; i < 3; ++i) {
    const auto own = std::size_t(i);
    system.update(normal[own], {.stage = 1}) =
        normal[own] + 0.3 * lambda * *divergence + 0.6 * mu * behind(v[own][+1], i);
  }
}

/// Feed 0.04, kill 0.04: from the ranges below it goes to u = 0.2, v = 0.4, not to a v of denormal numbers. Two levels
/// as of diffusion.
void Builder::gray_scott() {
  const auto u = state("u", 2), v = state("v", 2);
  const Taps laplacian = taps::laplacian(shape_.rank);
  system.update(u) = 0.16 * u.under(laplacian) + u - u * v * v + 0.04 - 0.04 * u;
  system.update(v) = 0.08 * v.under(laplacian) + v + u * v * v - 0.08 * v;
}

/// Two velocities that carry each other, upwind.
void Builder::burgers() {
  const std::array<SystemField, 2> velocities{state("v", 2), state("u", 2)};
  const Taps laplacian = taps::laplacian(shape_.rank);
  for (const SystemField& f : velocities) {
    Expression next = f + 0.05 * f.under(laplacian);
    for (int axis = 0; axis < 2; ++axis) {
      const SystemField& along = velocities[std::size_t(axis)];
      next += -0.1 * positive_part(along) * backward(f, axis) - 0.1 * negative_part(along) * forward(f, axis);
    }
    system.update(f) = next;
  }
}

/// Two phases, which part.
void Builder::allen_cahn() {
  const auto u = state("u", 2, Boundary::periodic);
  system.update(u) = u + 0.1 * u.under(taps::laplacian(shape_.rank)) + 0.1 * (u - u * u * u);
}

/// All steps are stable, and no value becomes a denormal number in some thousand steps.
Range range_of(const SystemShape& shape, std::string_view field) {
  if (shape.model == Model::gray_scott) return field == "u" ? Range{0.25, 0x1p-3} : Range{0.5, 0x1p-3};
  if (field == "c2") return {0.05, 0x1p-5};  // the laplacian of order 8 is 19.5 at most, and 4 / 19.5 is 0.2
  if (field == "sz" || field == "sy" || field == "sx") return {1.0 - 0x1p-11, 0x1p-11};
  if (field == "k" || field == "b" || field == "lambda") return {0.75, 0.25};
  if (field == "mu") return {0.375, 0.125};
  if (field == "eps") return {1.5, 0.5};
  return {};
}

void add_operands(Problem& p, const tessera_system_desc& desc) {
  const SystemShape& s = p.system;
  for (int f = 0; f < int(desc.field_count); ++f) {
    const tessera_field& field = desc.fields[f];
    const bool state = field.kind == TESSERA_FIELD_STATE, profile = field.kind == TESSERA_FIELD_PROFILE;
    const std::int64_t count = profile ? desc.extents[field.axis] : s.points();
    for (int level = 0; level < (state ? field.levels : 1); ++level)
      p.operands.push_back(
          {state ? SystemOperand::Use::state : SystemOperand::Use::constant, f, level, count, range_of(s, field.name)});
  }
  for (int i = 0; i < int(desc.injection_count); ++i)
    p.operands.push_back({SystemOperand::Use::injected, i, 0, s.steps * desc.injections[i].series_count, {}});
  for (int i = 0; i < int(desc.recording_count); ++i)
    p.operands.push_back({SystemOperand::Use::recorded, i, 0, s.steps * desc.recordings[i].series_count, {}});
}

/// Calls f with each factor of an update.
template <class F>
void each_factor(const tessera_update& update, F&& f) {
  for (std::int64_t g = 0; g < update.group_count; ++g) {
    const tessera_group& group = update.groups[g];
    for (std::int64_t i = 0; i < group.factor_count; ++i) f(group.factors[i]);
    for (std::int64_t t = 0; t < group.term_count; ++t)
      for (std::int64_t i = 0; i < group.terms[t].factor_count; ++i) f(group.terms[t].factors[i]);
  }
}

/// Of an execution: a stage reads each level of each array once and writes what it makes once; profiles and series
/// are nothing beside that. As for stencils many steps count as one. A multiply-add for each value that is read.
void count_work(Problem& p, const tessera_system_desc& desc) {
  std::set<std::tuple<int, int, int>> read, written;  // stage, field, level
  std::int64_t values = 0;
  for (std::int64_t u = 0; u < desc.update_count; ++u) {
    const tessera_update& update = desc.updates[u];
    std::set<std::tuple<int, int, Place>> own;
    written.insert({update.stage, update.field, 1});
    each_factor(update, [&](const tessera_factor& factor) {
      own.insert({factor.field, factor.level, {factor.offset[0], factor.offset[1], factor.offset[2]}});
      if (desc.fields[factor.field].kind != TESSERA_FIELD_PROFILE)
        read.insert({update.stage, factor.field, factor.level});
    });
    values += std::int64_t(own.size());
  }
  const double points = double(p.system.points()), bytes = points * double(size_of(p.kind.dtype));
  p.work = points * double(p.system.steps);
  p.flops = 2.0 * double(values) * p.work;
  p.read_bytes = bytes * double(read.size());
  p.write_bytes = bytes * double(written.size());
}

}  // namespace

StencilSystem system_of(const SystemShape& shape, DType dtype) {
  // In the order of Model.
  constexpr void (Builder::*kBuild[])() = {&Builder::wave,      &Builder::diffusion,  &Builder::maxwell,
                                           &Builder::elastic,   &Builder::gray_scott, &Builder::burgers,
                                           &Builder::allen_cahn};
  Builder builder(shape, dtype);
  (builder.*kBuild[std::size_t(shape.model)])();
  return std::move(builder.system);
}

Problem resolve_system(Problem p) {
  const StencilSystem system = system_of(p.system, p.kind.dtype);
  const StencilSystem::Description description(system, p.system.steps);
  p.operands.clear();
  add_operands(p, *description.get());
  count_work(p, *description.get());
  return p;
}

}  // namespace tessera::perf
