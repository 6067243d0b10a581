// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_reference.hpp"

#include "element_numbers.hpp"

#include <tessera/dtype.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>

namespace tessera::test {
namespace {

using Place = std::array<std::int64_t, TESSERA_MAX_RANK>;

std::int64_t modulo(std::int64_t i, std::int64_t n) { return (i % n + n) % n; }

/// The point of an axis of n points that stands for one outside.
std::int64_t stand_in(tessera_boundary mode, std::int64_t n, std::int64_t i) {
  switch (mode) {
    case TESSERA_BOUNDARY_PERIODIC:
      return modulo(i, n);
    case TESSERA_BOUNDARY_NEAREST:
      return std::clamp<std::int64_t>(i, 0, n - 1);
    case TESSERA_BOUNDARY_REFLECT:
      return std::min(modulo(i, 2 * n), 2 * n - 1 - modulo(i, 2 * n));
    case TESSERA_BOUNDARY_MIRROR:
      return n == 1 ? 0 : std::min(modulo(i, 2 * n - 2), 2 * n - 2 - modulo(i, 2 * n - 2));
    default:
      return i;
  }
}

/// A value, and how far what is computed in the system's types may be from it.
struct Number {
  long double value = 0.0L, error = 0.0L;
  long double largest() const { return std::abs(value) + error; }
};

Number operator*(const Number& a, const Number& b) {
  return {a.value * b.value, a.largest() * b.largest() - std::abs(a.value) * std::abs(b.value)};
}

Number mapped(tessera_map map, const Number& x) {
  switch (map) {
    case TESSERA_MAP_ABS:
      return {std::abs(x.value), x.error};
    case TESSERA_MAP_POSITIVE_PART:
      return {x.value < 0 ? 0 : x.value, x.error};
    case TESSERA_MAP_NEGATIVE_PART:
      return {x.value > 0 ? 0 : x.value, x.error};
    case TESSERA_MAP_RECIPROCAL: {
      const long double least = std::abs(x.value) - x.error;
      const long double far = least > 0 ? 1 / least - 1 / std::abs(x.value) : std::numeric_limits<long double>::max();
      return {1 / x.value, x.error > 0 ? far : 0.0L};
    }
    default:
      return x;
  }
}

/// Half the distance of two numbers of a type around 1, and the least number.
long double roundoff(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return std::ldexp(1.0L, -Numbers<T>::kDigits); });
}
long double least(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return (long double)(Numbers<T>::kLeast); });
}

class Interpreter {
 public:
  Interpreter(const tessera_system_desc& system, SystemValues& fields, SystemErrors* errors)
      : s_(system), fields_(fields), errors_(errors), next_(fields.size()), next_errors_(fields.size()) {
    extents_ = {1, 1, 1};
    std::copy_n(system.extents, system.rank, extents_.begin());
    made_high_ = extents_;
    if (std::any_of(system.high, system.high + system.rank, [](std::int64_t x) { return x != 0; }))
      std::copy_n(system.low, system.rank, made_low_.begin()),
          std::copy_n(system.high, system.rank, made_high_.begin());
    for (std::int64_t u = 0; u < s_.update_count; ++u) stages_.insert(s_.updates[u].stage);
    for (std::int64_t i = 0; i < s_.injection_count; ++i) stages_.insert(s_.injections[i].stage);
    for (std::int64_t i = 0; i < s_.recording_count; ++i) stages_.insert(s_.recordings[i].stage);
    if (errors_ == nullptr) return;
    unit_ = roundoff(s_.dtype), least_ = least(s_.dtype);
    errors_->fields = fields_;
    for (auto& levels : errors_->fields)
      for (Values& level : levels) std::fill(level.begin(), level.end(), 0.0L);
  }

  void step(std::size_t number, const SeriesValues& injected, SeriesValues& recorded) {
    for (const std::int32_t stage : stages_) {
      for (std::int64_t u = 0; u < s_.update_count; ++u)
        if (s_.updates[u].stage == stage) update(s_.updates[u]);
      for (std::int64_t i = 0; i < s_.injection_count; ++i)
        if (s_.injections[i].stage == stage) inject(s_.injections[i], injected[std::size_t(i)][number]);
      for (std::int64_t i = 0; i < s_.recording_count; ++i)
        if (s_.recordings[i].stage == stage) record(std::size_t(i), number, recorded);
    }
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if (next_[f].empty()) continue;
      turn(fields_[f], next_[f]);
      if (errors_ != nullptr) turn(errors_->fields[f], next_errors_[f]);
    }
  }

 private:
  static void turn(std::vector<Values>& levels, Values& next) {
    levels.pop_back();
    levels.insert(levels.begin(), std::move(next));
    next.clear();
  }
  std::size_t index(const Place& p) const { return std::size_t((p[0] * extents_[1] + p[1]) * extents_[2] + p[2]); }

  /// A value that was stored: the place `at` of a field's level, 1 for the one that is made.
  Number number(std::int32_t field, int level, std::size_t at) const {
    const auto which = std::size_t(field);
    if (level == 1) return {next_[which][at], errors_ == nullptr ? 0.0L : next_errors_[which][at]};
    const auto place = std::size_t(-level);
    return {fields_[which][place][at], errors_ == nullptr ? 0.0L : errors_->fields[which][place][at]};
  }

  /// A value that is read at a point; false where the point keeps its own.
  bool read(const tessera_factor& f, const Place& at, Number& value) const {
    const tessera_field& field = s_.fields[f.field];
    Place p{0, 0, 0};
    bool constant = false;
    long double outside = 0.0L;
    for (int axis = 0; axis < s_.rank; ++axis) {
      p[std::size_t(axis)] = at[std::size_t(axis)] + f.offset[axis];
      const std::int64_t n = extents_[std::size_t(axis)], i = p[std::size_t(axis)];
      if (i >= 0 && i < n) continue;
      const int side = i < 0 ? 0 : 1;
      const tessera_boundary mode = field.boundary[axis][side];
      if (mode == TESSERA_BOUNDARY_FIXED) return false;
      if (mode == TESSERA_BOUNDARY_CONSTANT && !constant) constant = true, outside = field.boundary_value[axis][side];
      p[std::size_t(axis)] = stand_in(mode, n, i);
    }
    if (constant)
      value = {outside, unit_ * std::abs(outside)};
    else if (field.kind == TESSERA_FIELD_PROFILE)
      value = number(f.field, 0, std::size_t(p[std::size_t(field.axis)]));
    else
      value = number(f.field, f.level, index(p));
    value = mapped(f.map, value);
    return true;
  }
  bool multiply(const tessera_factor* factors, std::int64_t count, const Place& at, Number& value) const {
    bool free = true;
    for (std::int64_t i = 0; i < count; ++i) {
      Number factor;
      free &= read(factors[i], at, factor);
      value = value * factor;
    }
    return free;
  }

  /// The new value at a point; that of level 0 where a read leaves across a fixed side. Each rounding, in whichever
  /// order sums are made, is at most that of the sum of absolute values; a term meets at most as many as there are
  /// operations.
  Number evaluate(const tessera_update& u, const Place& at) const {
    Number sum;
    long double magnitude = 0.0L, operations = 1.0L;
    bool free = true;
    for (std::int64_t g = 0; g < u.group_count; ++g) {
      const tessera_group& group = u.groups[g];
      Number terms, outer{1.0L, 0.0L};
      long double of_terms = 0.0L;
      for (std::int64_t t = 0; t < group.term_count; ++t) {
        Number term{group.terms[t].coefficient, 0.0L};
        free &= multiply(group.terms[t].factors, group.terms[t].factor_count, at, term);
        terms.value += term.value, terms.error += term.error;
        of_terms += term.largest();
        operations += 2.0L + (long double)(2 * group.terms[t].factor_count);  // reciprocals round, too
      }
      free &= multiply(group.factors, group.factor_count, at, outer);
      const Number product = outer * terms;
      sum.value += product.value, sum.error += product.error;
      magnitude += outer.largest() * of_terms;
      operations += 2.0L + (long double)(2 * group.factor_count);
    }
    if (!free) return number(u.field, 0, index(at));
    constexpr long double kSecondOrder = 1.01L;
    if (errors_ != nullptr) sum.error += kSecondOrder * operations * (unit_ * magnitude + least_);
    return sum;
  }

  void update(const tessera_update& u) {
    const auto which = std::size_t(u.field);
    if (next_[which].empty()) {
      next_[which] = fields_[which].back();  // what the place of the next level holds
      if (errors_ != nullptr) next_errors_[which] = errors_->fields[which].back();
      for_each_point(made_low_, made_high_, [&](const Place& p) {
        const std::size_t at = index(p);
        next_[which][at] = fields_[which][0][at];
        if (errors_ != nullptr) next_errors_[which][at] = errors_->fields[which][0][at];
      });
    }
    Place low{0, 0, 0}, high = extents_;
    if (std::any_of(u.high, u.high + s_.rank, [](std::int64_t x) { return x != 0; }))
      for (int axis = 0; axis < s_.rank; ++axis)
        low[std::size_t(axis)] = u.low[axis], high[std::size_t(axis)] = u.high[axis];
    for (std::size_t axis = 0; axis < low.size(); ++axis)
      low[axis] = std::max(low[axis], made_low_[axis]), high[axis] = std::min(high[axis], made_high_[axis]);
    for_each_point(low, high, [&](const Place& p) { store(which, index(p), evaluate(u, p)); });
  }
  template <class Visit>
  static void for_each_point(const Place& low, const Place& high, Visit&& visit) {
    Place p{};
    for (p[0] = low[0]; p[0] < high[0]; ++p[0])
      for (p[1] = low[1]; p[1] < high[1]; ++p[1])
        for (p[2] = low[2]; p[2] < high[2]; ++p[2]) visit(p);
  }
  void store(std::size_t field, std::size_t at, const Number& x) {
    next_[field][at] = x.value;
    if (errors_ == nullptr) return;
    const tessera_dtype own = s_.fields[field].dtype, dtype = own != 0 ? own : s_.dtype;
    const bool narrower = size_of(dtype) < size_of(s_.dtype);
    next_errors_[field][at] = x.error + (narrower ? roundoff(dtype) * x.largest() + least(dtype) : 0.0L);
  }
  std::size_t place(const tessera_points& points, std::int64_t entry) const {
    Place p{0, 0, 0};
    std::copy_n(points.points + entry * s_.rank, s_.rank, p.begin());
    return index(p);
  }
  void inject(const tessera_points& points, const Values& series) {
    for (std::int64_t e = 0; e < points.count; ++e) {
      const std::size_t at = place(points, e);
      Number x = number(points.field, 1, at);
      const long double added = points.weights[e] * series[std::size_t(points.series[e])];
      x.value += added;
      x.error += 3 * unit_ * (x.largest() + 2 * std::abs(added)) + least_;
      store(std::size_t(points.field), at, x);
    }
  }
  void record(std::size_t list, std::size_t number_of_step, SeriesValues& recorded) {
    const tessera_points& points = s_.recordings[list];
    Values& series = recorded[list][number_of_step];
    Values magnitudes(std::size_t(points.series_count), 0.0L), errors = magnitudes, operations = magnitudes;
    series = magnitudes;
    for (std::int64_t e = 0; e < points.count; ++e) {
      const auto i = std::size_t(points.series[e]);
      const Number x = number(points.field, 1, place(points, e));
      series[i] += points.weights[e] * x.value;
      errors[i] += std::abs((long double)points.weights[e]) * x.error;
      magnitudes[i] += std::abs((long double)points.weights[e]) * x.largest();
      operations[i] += 3.0L;
    }
    if (errors_ == nullptr) return;
    for (std::size_t i = 0; i < series.size(); ++i) errors[i] += operations[i] * (unit_ * magnitudes[i] + least_);
    errors_->recorded[list][number_of_step] = errors;
  }

  const tessera_system_desc& s_;
  SystemValues& fields_;
  SystemErrors* errors_;
  long double unit_ = 0.0L, least_ = 0.0L;
  SystemValues::value_type next_, next_errors_;  ///< of each field that this step has updated
  Place extents_, made_low_{}, made_high_;
  std::set<std::int32_t> stages_;
};

}  // namespace

void interpret(const tessera_system_desc& system, SystemValues& fields, const SeriesValues& injected,
               SeriesValues& recorded, SystemErrors* errors) {
  recorded.assign(std::size_t(system.recording_count), std::vector<Values>(std::size_t(system.steps)));
  if (errors != nullptr) errors->recorded = recorded;
  Interpreter interpreter(system, fields, errors);
  for (std::size_t step = 0; step < std::size_t(system.steps); ++step) interpreter.step(step, injected, recorded);
}

}  // namespace tessera::test
