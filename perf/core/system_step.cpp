// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_step.hpp"

#include "system_reference.hpp"

#include <cmath>
#include <stdexcept>

namespace tessera::perf {

namespace {

/// Second order terms of the bounds.
constexpr long double kMore = 1.01L;

long double mapped(tessera_map map, long double x) {
  switch (map) {
    case TESSERA_MAP_ABS:
      return std::abs(x);
    case TESSERA_MAP_POSITIVE_PART:
      return x < 0 ? 0 : x;
    case TESSERA_MAP_NEGATIVE_PART:
      return x > 0 ? 0 : x;
    case TESSERA_MAP_RECIPROCAL:
      return 1 / x;
    default:
      return x;
  }
}

}  // namespace

SystemStep::SystemStep(const Problem& problem, std::uint64_t seed)
    : problem_(problem),
      seed_(seed),
      system_(system_of(problem.system, problem.kind.dtype)),
      description_(system_, 1),
      unit_(with_types<WideTypes>(problem.kind.dtype, []<class T>(std::type_identity<T>) { return kUnitRoundoff<T>; })),
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

/// None where a fixed side is crossed. The other sides of these systems are periodic.
std::optional<Bounded> SystemStep::read(const tessera_factor& factor, const Place& at) {
  Place from = at;
  for (std::size_t axis = 0; axis < std::size_t(desc().rank); ++axis) {
    from[axis] += factor.offset[axis];
    if (from[axis] >= 0 && from[axis] < extents_[axis]) continue;
    const tessera_boundary mode = desc().fields[factor.field].boundary[axis][from[axis] < 0 ? 0 : 1];
    if (mode == TESSERA_BOUNDARY_FIXED) return {};
    if (mode != TESSERA_BOUNDARY_PERIODIC) throw std::logic_error("the suite's systems are fixed or periodic");
    from[axis] = (from[axis] % extents_[axis] + extents_[axis]) % extents_[axis];
  }
  if (factor.level < 1) return Bounded{mapped(factor.map, before(factor.field, factor.level, from)), 0};
  if (factor.map != TESSERA_MAP_IDENTITY) throw std::logic_error("the suite's systems map what is given alone");
  return next(factor.field, from);
}

std::optional<Bounded> SystemStep::product(const tessera_factor* factors, std::int64_t count, const Place& at,
                                           double coefficient) {
  Bounded result{coefficient, 0};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::optional<Bounded> factor = read(factors[i], at);
    if (!factor) return {};
    result.bound = std::abs(result.value) * factor->bound + std::abs(factor->value) * result.bound;
    result.value *= factor->value;
  }
  return result;
}

/// Whatever order sums are made in, each rounding is at most that of the sum of the absolute values, and a term meets
/// at most as many as there are operations.
std::optional<Bounded> SystemStep::sum(const tessera_update& update, const Place& at) {
  Bounded sum;
  long double magnitude = 0, operations = 1;
  for (std::int64_t g = 0; g < update.group_count; ++g) {
    const tessera_group& group = update.groups[g];
    const std::optional<Bounded> outer = product(group.factors, group.factor_count, at, 1.0);
    if (!outer) return {};
    operations += 2 + static_cast<long double>(2 * group.factor_count);  // reciprocals round, too
    for (std::int64_t t = 0; t < group.term_count; ++t) {
      const tessera_term& term = group.terms[t];
      const std::optional<Bounded> inner = product(term.factors, term.factor_count, at, term.coefficient);
      if (!inner) return {};
      sum.value += outer->value * inner->value;
      sum.bound += std::abs(outer->value) * inner->bound + std::abs(inner->value) * outer->bound;
      magnitude += std::abs(outer->value * inner->value);
      operations += 2 + static_cast<long double>(2 * term.factor_count);
    }
  }
  sum.bound = kMore * (sum.bound + operations * unit_ * magnitude);
  return sum;
}

Place SystemStep::place(const tessera_points& points, std::int64_t entry) const {
  Place p{0, 0, 0};
  std::copy_n(points.points + entry * desc().rank, desc().rank, p.begin());
  return p;
}

void SystemStep::inject(int field, const Place& at, Bounded& value) const {
  for (std::int64_t i = 0; i < desc().injection_count; ++i) {
    const tessera_points& points = desc().injections[i];
    for (std::int64_t e = 0; e < points.count && points.field == field; ++e) {
      if (place(points, e) != at) continue;
      const long double added = points.weights[e] * element(injected_[std::size_t(i)], points.series[e]);
      value.bound += 3 * unit_ * (std::abs(value.value) + std::abs(added));
      value.value += added;
    }
  }
}

Bounded SystemStep::next(int field, const Place& at) {
  auto& known = known_[std::size_t(field)];
  if (const auto found = known.find(index_of(at)); found != known.end()) return found->second;
  Bounded value{before(field, 0, at), 0};
  for (std::int64_t u = 0; u < desc().update_count; ++u)
    if (desc().updates[u].field == field) value = sum(desc().updates[u], at).value_or(value);
  inject(field, at, value);
  known[index_of(at)] = value;
  return value;
}

Bounded SystemStep::recorded(int recording, std::int64_t series) {
  const tessera_points& points = desc().recordings[recording];
  Bounded sum;
  long double magnitude = 0, operations = 1;
  for (std::int64_t e = 0; e < points.count; ++e) {
    if (points.series[e] != series) continue;
    const Bounded value = next(points.field, place(points, e));
    sum.value += points.weights[e] * value.value;
    sum.bound += std::abs(points.weights[e]) * value.bound;
    magnitude += std::abs(points.weights[e] * value.value);
    operations += 2;
  }
  sum.bound += kMore * operations * unit_ * magnitude;
  return sum;
}

}  // namespace tessera::perf
