// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"

#include "random.hpp"
#include "system_evaluation.hpp"
#include "systems.hpp"
#include "wave.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace tessera::perf {

namespace {

using test::Number;

/// Whole lines along each axis, which cross every tile, and points anywhere.
std::vector<std::int64_t> sampled_points(const SystemShape& s, std::uint64_t seed) {
  constexpr std::uint64_t kLines = 2, kPoints = 2048;
  const auto anywhere = [&](std::uint64_t number) {
    Place place{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double u = 0.5 + 0.5 * random_value(seed + 79, 3 * number + axis);
      place[axis] = std::min(s.extents[axis] - 1, std::int64_t(u * double(s.extents[axis])));
    }
    return place;
  };
  std::vector<std::int64_t> points{0, s.points() - 1};
  for (std::uint64_t line = 0; line < kLines; ++line)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Place place = anywhere(kPoints + line);
      for (place[axis] = 0; place[axis] < s.extents[axis]; ++place[axis]) points.push_back(index_of(s, place));
    }
  for (std::uint64_t number = 0; number < kPoints; ++number) points.push_back(index_of(s, anywhere(number)));
  if (s.sponge) points.push_back(index_of(s, source_place(s)));
  return points;
}

/// One step of a system at a point, by the reference of the tests, of the random values that a fixture has.
class SystemStep {
 public:
  SystemStep(const Problem& problem, std::uint64_t seed);
  SystemStep(const SystemStep&) = delete;

  const tessera_system_desc& desc() const { return *description_.get(); }
  /// Before the step: `level` 0 or less.
  long double before(int field, int level, const Place& at) const {
    const tessera_field& f = desc().fields[field];
    const bool profile = f.kind == TESSERA_FIELD_PROFILE;
    return element(operands_.at({field, level}), profile ? at[std::size_t(f.axis)] : index_of(at));
  }
  /// The new level, behind all stages.
  Number next(int field, const Place& at);
  /// What a recording's series gets.
  Number recorded(int recording, std::int64_t series);
  Place place_of(std::int64_t index) const {
    return {index / (extents_[1] * extents_[2]), index / extents_[2] % extents_[1], index % extents_[2]};
  }
  std::int64_t index_of(const Place& at) const { return (at[0] * extents_[1] + at[1]) * extents_[2] + at[2]; }

 private:
  Place place(const tessera_points& points, std::int64_t entry) const {
    Place p{0, 0, 0};
    std::copy_n(points.points + entry * desc().rank, desc().rank, p.begin());
    return p;
  }
  void inject(int field, const Place& at, Number& value) const;
  long double element(std::size_t operand, std::int64_t index) const {
    const Range& range = problem_.operands[operand].range;
    return with_types<WideTypes>(problem_.kind.dtype, [&]<class T>(std::type_identity<T>) {
      return static_cast<long double>(
          random_between<T>(operand_seed(seed_, operand), std::uint64_t(index), range.middle, range.half));
    });
  }

  Problem problem_;
  std::uint64_t seed_;
  StencilSystem system_;
  StencilSystem::Description description_;
  Place extents_{1, 1, 1};
  long double unit_;                                     ///< roundoff of the system's type
  std::map<std::pair<int, int>, std::size_t> operands_;  ///< by field and level
  std::vector<std::size_t> injected_;
  std::vector<std::unordered_map<std::int64_t, Number>> known_;  ///< new values, by field and index
};

SystemStep::SystemStep(const Problem& problem, std::uint64_t seed)
    : problem_(problem),
      seed_(seed),
      system_(system_of(problem.system, problem.kind.dtype)),
      description_(system_, 1),
      unit_(test::roundoff(desc().dtype)),
      known_(std::size_t(desc().field_count)) {
  std::copy_n(desc().extents, desc().rank, extents_.begin());
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const SystemOperand& operand = problem.operands[i];
    if (operand.use == SystemOperand::Use::injected) injected_.push_back(i);
    if (operand.use == SystemOperand::Use::state || operand.use == SystemOperand::Use::constant)
      operands_[{operand.index, -operand.level}] = i;
  }
}

void SystemStep::inject(int field, const Place& at, Number& value) const {
  for (std::int64_t i = 0; i < desc().injection_count; ++i) {
    const tessera_points& points = desc().injections[i];
    for (std::int64_t e = 0; e < points.count && points.field == field; ++e) {
      if (place(points, e) != at) continue;
      const long double added = points.weights[e] * element(injected_[std::size_t(i)], points.series[e]);
      value.error += 3 * unit_ * (std::abs(value.value) + std::abs(added));
      value.value += added;
    }
  }
}

Number SystemStep::next(int field, const Place& at) {
  auto& known = known_[std::size_t(field)];
  if (const auto found = known.find(index_of(at)); found != known.end()) return found->second;
  const auto read = [this](std::int32_t from, int level, const Place& place) {
    return level < 1 ? Number{before(from, level, place), 0} : next(from, place);
  };
  const test::SystemEvaluation evaluation{desc(), extents_, unit_, test::least(desc().dtype), read};
  Number value{before(field, 0, at), 0}, made;
  for (std::int64_t u = 0; u < desc().update_count; ++u)
    if (desc().updates[u].field == field && evaluation.update(desc().updates[u], at, made)) value = made;
  inject(field, at, value);
  known[index_of(at)] = value;
  return value;
}

Number SystemStep::recorded(int recording, std::int64_t series) {
  const tessera_points& points = desc().recordings[recording];
  Number sum;
  long double magnitude = 0, operations = 1;
  for (std::int64_t e = 0; e < points.count; ++e) {
    if (points.series[e] != series) continue;
    const Number value = next(points.field, place(points, e));
    sum.value += points.weights[e] * value.value;
    sum.error += std::abs(points.weights[e]) * value.error;
    magnitude += std::abs(points.weights[e] * value.value);
    operations += 2;
  }
  sum.error += 1.01L * operations * unit_ * magnitude;
  return sum;
}

Samples sampled(const Problem& problem, const SystemOperand& o, const std::vector<std::int64_t>& points,
                SystemStep& step) {
  Samples samples;
  const auto add = [&](std::int64_t where, const Number& value) { samples.add(where, value.value, value.error); };
  if (o.use == SystemOperand::Use::recorded) {
    const std::int64_t width = o.count / problem.system.steps;
    for (std::int64_t where = 0; where < o.count; ++where) add(where, step.recorded(o.index, where % width));
  } else {
    for (const std::int64_t where : points) {
      const Place at = step.place_of(where);
      add(where, o.level == 0 ? step.next(o.index, at) : Number{step.before(o.index, 1 - o.level, at), 0});
    }
  }
  return samples;
}

/// Both sides have the rounding errors of all steps. An error of a step of the wave grows at most in proportion to the
/// steps that follow, which makes steps^2 / 2 of one step's on each side.
void widen(std::vector<Checked>& checked, std::int64_t count) {
  long double most = 0;
  for (const Checked& c : checked)
    for (const long double bound : c.samples.bound) most = std::max(most, bound);
  const auto steps = static_cast<long double>(count);
  for (Checked& c : checked)
    c.samples.bound.assign(c.samples.where.size(), steps * steps * most), c.samples.value.clear();
}

}  // namespace

std::vector<Checked> checked_arrays(const Problem& problem, std::uint64_t seed) {
  const std::vector<std::int64_t> points = sampled_points(problem.system, seed);
  SystemStep step(problem.part(), seed);
  std::vector<Checked> checked;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const SystemOperand& o = problem.operands[i];
    const bool recorded = o.use == SystemOperand::Use::recorded;
    if (o.use != SystemOperand::Use::state && !recorded) continue;
    const std::string name = recorded ? "recording " + std::to_string(o.index)
                                      : step.desc().fields[o.index].name +
                                            (o.level == 0 ? std::string() : "[-" + std::to_string(o.level) + "]");
    checked.push_back({i, problem.kind.dtype, o.count, 0, " of " + name, sampled(problem, o, points, step)});
  }
  if (problem.system.steps > 1) widen(checked, problem.system.steps);
  return checked;
}

}  // namespace tessera::perf
