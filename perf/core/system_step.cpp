// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_step.hpp"

#include "system_reference.hpp"

#include <cmath>

namespace tessera::perf {

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

Place SystemStep::place_of(std::int64_t index) const {
  return {index / (extents_[1] * extents_[2]), index / extents_[2] % extents_[1], index % extents_[2]};
}
std::int64_t SystemStep::index_of(const Place& at) const { return (at[0] * extents_[1] + at[1]) * extents_[2] + at[2]; }

long double SystemStep::element(std::size_t operand, std::int64_t index) const {
  const Range& range = problem_.operands[operand].range;
  return with_types<WideTypes>(problem_.kind.dtype, [&]<class T>(std::type_identity<T>) {
    return static_cast<long double>(
        random_between<T>(operand_seed(seed_, operand), std::uint64_t(index), range.middle, range.half));
  });
}

long double SystemStep::before(int field, int level, const Place& at) const {
  const tessera_field& f = desc().fields[field];
  const bool profile = f.kind == TESSERA_FIELD_PROFILE;
  return element(operands_.at({field, level}), profile ? at[std::size_t(f.axis)] : index_of(at));
}

Place SystemStep::place(const tessera_points& points, std::int64_t entry) const {
  Place p{0, 0, 0};
  std::copy_n(points.points + entry * desc().rank, desc().rank, p.begin());
  return p;
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

}  // namespace tessera::perf
