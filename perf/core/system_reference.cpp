// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_reference.hpp"

#include "random.hpp"
#include "system_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

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
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const SystemOperand& operand = problem.operands[i];
    if (!is_sampled(operand)) continue;
    Samples samples = places_of(i);
    for (const std::int64_t where : samples.where) {
      Bounded value;
      if (operand.use == SystemOperand::Use::recorded) {
        const std::int64_t width = operand.count / problem.system.steps;
        value = step.recorded(operand.index, where % width);
      } else if (operand.level == 0) {
        value = step.next(operand.index, step.place_of(where));
      } else {
        value.value = step.before(operand.index, 1 - operand.level, step.place_of(where));
      }
      samples.value.push_back(value.value);
      samples.bound.push_back(value.bound);
    }
    samples_.push_back(std::move(samples));
  }
  if (!complete_) widen();
}

SystemReference::Samples SystemReference::places_of(std::size_t operand) const {
  Samples samples{operand, {}, {}, {}};
  if (problem_.operands[operand].use == SystemOperand::Use::state) {
    samples.where = points_;
  } else {
    for (std::int64_t i = 0; i < problem_.operands[operand].count; ++i) samples.where.push_back(i);
  }
  return samples;
}

/// Both sides have the rounding errors of all steps. An error of a step of the wave grows at most in proportion to the
/// steps that follow, which makes steps^2 / 2 of one step's on each side.
void SystemReference::widen() {
  long double most = 0;
  for (const Samples& samples : samples_)
    for (const long double bound : samples.bound) most = std::max(most, bound);
  const auto steps = static_cast<long double>(problem_.system.steps);
  for (Samples& samples : samples_) samples.bound.assign(samples.where.size(), steps * steps * most);
}

bool SystemReference::complete() const { return complete_; }

void SystemReference::adopt(Device& device, void* const* arrays) {
  for (Samples& samples : samples_) {
    std::vector<double> computed(samples.where.size());
    device.read(arrays[samples.operand], problem_.kind.dtype, samples.where, computed.data());
    samples.value.assign(computed.begin(), computed.end());
  }
  complete_ = true;
}

std::string SystemReference::name_of(std::size_t operand) const {
  const SystemOperand& o = problem_.operands[operand];
  if (o.use == SystemOperand::Use::recorded) return "recording " + std::to_string(o.index);
  return fields_[std::size_t(o.index)] + (o.level == 0 ? "" : "[-" + std::to_string(o.level) + "]");
}

void SystemReference::compare(const Samples& samples, const std::vector<double>& computed, Verdict& verdict) const {
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const long double error = std::abs(static_cast<long double>(computed[i]) - samples.value[i]);
    if (error == 0) continue;
    const double relative = double(error / samples.bound[i]);
    verdict.error = std::max(verdict.error, relative);
    if (relative <= 1.0 || !verdict.failure.empty()) continue;
    char text[200];
    std::snprintf(text, sizeof text, "wrong result: element %lld of %s is %.17g, must be %.17g within %.3g",
                  static_cast<long long>(samples.where[i]), name_of(samples.operand).c_str(), computed[i],
                  double(samples.value[i]), double(samples.bound[i]));
    verdict.failure = text;
  }
}

Verdict SystemReference::check(Device& device, void* const* arrays) const {
  if (!complete()) return {0.0, "nothing to compare with: no competitor's single steps were right"};
  Verdict verdict;
  for (const Samples& samples : samples_) {
    const SystemOperand& operand = problem_.operands[samples.operand];
    if (device.count_nan(arrays[samples.operand], problem_.kind.dtype, operand.count) != 0)
      return {0.0, name_of(samples.operand) + " was not written, or has a NaN"};
    std::vector<double> computed(samples.where.size());
    device.read(arrays[samples.operand], problem_.kind.dtype, samples.where, computed.data());
    compare(samples, computed, verdict);
  }
  return verdict;
}

}  // namespace tessera::perf
