// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_reference.hpp"

#include "random.hpp"
#include "system_step.hpp"

#include <algorithm>

namespace tessera::perf {

namespace {

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

bool is_sampled(const SystemOperand& operand) {
  return operand.use == SystemOperand::Use::state || operand.use == SystemOperand::Use::recorded;
}

}  // namespace

SystemReference::SystemReference(const Problem& problem, std::uint64_t seed)
    : problem_(problem), complete_(problem.system.steps == 1), points_(sampled_points(problem.system, seed)) {
  SystemStep step(problem.part(), seed);
  for (int f = 0; f < int(step.desc().field_count); ++f) fields_.emplace_back(step.desc().fields[f].name);
  for (std::size_t i = 0; i < problem.operands.size(); ++i)
    if (is_sampled(problem.operands[i])) samples_[i] = sampled(i, step);
  if (!complete_) widen();
}

Samples SystemReference::sampled(std::size_t operand, SystemStep& step) const {
  const SystemOperand& o = problem_.operands[operand];
  Samples samples;
  const auto add = [&](std::int64_t where, const Number& value) { samples.add(where, value.value, value.error); };
  if (o.use == SystemOperand::Use::recorded) {
    const std::int64_t width = o.count / problem_.system.steps;
    for (std::int64_t where = 0; where < o.count; ++where) add(where, step.recorded(o.index, where % width));
  } else {
    for (const std::int64_t where : points_) {
      const Place at = step.place_of(where);
      add(where, o.level == 0 ? step.next(o.index, at) : Number{step.before(o.index, 1 - o.level, at), 0});
    }
  }
  return samples;
}

/// Both sides have the rounding errors of all steps. An error of a step of the wave grows at most in proportion to the
/// steps that follow, which makes steps^2 / 2 of one step's on each side.
void SystemReference::widen() {
  long double most = 0;
  for (const auto& [operand, samples] : samples_)
    for (const long double bound : samples.bound) most = std::max(most, bound);
  const auto steps = static_cast<long double>(problem_.system.steps);
  for (auto& [operand, samples] : samples_) samples.bound.assign(samples.where.size(), steps * steps * most);
}

void SystemReference::adopt(Device& device, void* const* arrays) {
  for (auto& [operand, samples] : samples_) samples.adopt(device, arrays[operand], problem_.kind.dtype);
  complete_ = true;
}

std::string SystemReference::name_of(std::size_t operand) const {
  const SystemOperand& o = problem_.operands[operand];
  if (o.use == SystemOperand::Use::recorded) return "recording " + std::to_string(o.index);
  return fields_[std::size_t(o.index)] + (o.level == 0 ? "" : "[-" + std::to_string(o.level) + "]");
}

Verdict SystemReference::check(Device& device, void* const* arrays) const {
  if (!complete()) return {0.0, "nothing to compare with: no competitor's single steps were right"};
  Verdict all;
  for (const auto& [operand, samples] : samples_) {
    if (device.count_nan(arrays[operand], problem_.kind.dtype, problem_.operands[operand].count) != 0)
      return {0.0, name_of(operand) + " was not written, or has a NaN"};
    const Verdict one = samples.check(device, arrays[operand], problem_.kind.dtype, " of " + name_of(operand));
    all.error = std::max(all.error, one.error);
    if (all.failure.empty()) all.failure = one.failure;
  }
  return all;
}

}  // namespace tessera::perf
