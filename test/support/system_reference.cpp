// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_reference.hpp"

#include "system_evaluation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>

namespace tessera::test {
namespace {

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

  /// The same of a point, or of a profile along it.
  Number number(std::int32_t field, int level, const Place& p) const {
    const tessera_field& f = s_.fields[field];
    return number(field, level, f.kind == TESSERA_FIELD_PROFILE ? std::size_t(p[std::size_t(f.axis)]) : index(p));
  }
  /// The new value at a point; that of level 0 where a read leaves across a fixed side.
  Number evaluate(const tessera_update& u, const Place& p) const {
    const auto at = [this](std::int32_t field, int level, const Place& place) { return number(field, level, place); };
    Number sum;
    return SystemEvaluation{s_, extents_, unit_, least_, at}.update(u, p, sum) ? sum : number(u.field, 0, p);
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
