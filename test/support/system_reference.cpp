// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_reference.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
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

class Interpreter {
 public:
  Interpreter(const tessera_system_desc& system, SystemValues& fields, long double (*round)(tessera_dtype, long double))
      : s_(system), fields_(fields), round_(round), next_(fields.size()) {
    extents_ = {1, 1, 1};
    std::copy_n(system.extents, system.rank, extents_.begin());
    for (std::int64_t u = 0; u < s_.update_count; ++u) stages_.insert(s_.updates[u].stage);
    for (std::int64_t i = 0; i < s_.injection_count; ++i) stages_.insert(s_.injections[i].stage);
    for (std::int64_t i = 0; i < s_.recording_count; ++i) stages_.insert(s_.recordings[i].stage);
  }

  void step(std::size_t number, const SeriesValues& injected, SeriesValues& recorded) {
    for (const std::int32_t stage : stages_) {
      for (std::int64_t u = 0; u < s_.update_count; ++u)
        if (s_.updates[u].stage == stage) update(s_.updates[u]);
      for (std::int64_t i = 0; i < s_.injection_count; ++i)
        if (s_.injections[i].stage == stage) inject(s_.injections[i], injected[std::size_t(i)][number]);
      for (std::int64_t i = 0; i < s_.recording_count; ++i)
        if (s_.recordings[i].stage == stage) record(s_.recordings[i], recorded[std::size_t(i)][number]);
    }
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if (next_[f].empty()) continue;
      fields_[f].pop_back();
      fields_[f].insert(fields_[f].begin(), std::move(next_[f]));
      next_[f].clear();
    }
  }

 private:
  std::size_t index(const Place& p) const { return std::size_t((p[0] * extents_[1] + p[1]) * extents_[2] + p[2]); }

  /// A value that is read at a point; false where the point keeps its own.
  bool read(const tessera_factor& f, const Place& at, long double& value) const {
    const tessera_field& field = s_.fields[f.field];
    const std::size_t which = std::size_t(f.field);
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
      value = outside;
    else if (field.kind == TESSERA_FIELD_PROFILE)
      value = fields_[which][0][std::size_t(p[std::size_t(field.axis)])];
    else
      value = f.level == 1 ? next_[which][index(p)] : fields_[which][std::size_t(-f.level)][index(p)];
    value = mapped(f.map, value);
    return true;
  }
  static long double mapped(tessera_map map, long double x) {
    switch (map) {
      case TESSERA_MAP_ABS:
        return x < 0 ? -x : x;
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
  bool product(const tessera_factor* factors, std::int64_t count, const Place& at, long double& value) const {
    bool free = true;
    for (std::int64_t i = 0; i < count; ++i) {
      long double factor = 0.0L;
      free &= read(factors[i], at, factor);
      value *= factor;
    }
    return free;
  }

  /// The new value at a point; that of level 0 where a read leaves across a fixed side.
  long double evaluate(const tessera_update& u, const Place& at) const {
    long double sum = 0.0L;
    bool free = true;
    for (std::int64_t g = 0; g < u.group_count; ++g) {
      const tessera_group& group = u.groups[g];
      long double terms = 0.0L, outer = 1.0L;
      for (std::int64_t t = 0; t < group.term_count; ++t) {
        long double term = group.terms[t].coefficient;
        free &= product(group.terms[t].factors, group.terms[t].factor_count, at, term);
        terms += term;
      }
      free &= product(group.factors, group.factor_count, at, outer);
      sum += outer * terms;
    }
    return free ? sum : fields_[std::size_t(u.field)][0][index(at)];
  }

  void update(const tessera_update& u) {
    Values& next = next_[std::size_t(u.field)];
    if (next.empty()) next = fields_[std::size_t(u.field)][0];
    Place low{0, 0, 0}, high = extents_;
    if (std::any_of(u.high, u.high + s_.rank, [](std::int64_t x) { return x != 0; }))
      for (int axis = 0; axis < s_.rank; ++axis)
        low[std::size_t(axis)] = u.low[axis], high[std::size_t(axis)] = u.high[axis];
    Place p{};
    for (p[0] = low[0]; p[0] < high[0]; ++p[0])
      for (p[1] = low[1]; p[1] < high[1]; ++p[1])
        for (p[2] = low[2]; p[2] < high[2]; ++p[2]) next[index(p)] = stored(u.field, evaluate(u, p));
  }
  long double stored(std::int32_t field, long double value) const {
    const tessera_dtype dtype = s_.fields[field].dtype != 0 ? s_.fields[field].dtype : s_.dtype;
    return round_ == nullptr ? value : round_(dtype, value);
  }
  Place place(const tessera_points& points, std::int64_t entry) const {
    Place p{0, 0, 0};
    std::copy_n(points.points + entry * s_.rank, s_.rank, p.begin());
    return p;
  }
  void inject(const tessera_points& points, const Values& series) {
    for (std::int64_t e = 0; e < points.count; ++e) {
      long double& value = next_[std::size_t(points.field)][index(place(points, e))];
      value = stored(points.field, value + points.weights[e] * series[std::size_t(points.series[e])]);
    }
  }
  void record(const tessera_points& points, Values& series) const {
    series.assign(std::size_t(points.series_count), 0.0L);
    for (std::int64_t e = 0; e < points.count; ++e)
      series[std::size_t(points.series[e])] +=
          points.weights[e] * next_[std::size_t(points.field)][index(place(points, e))];
  }

  const tessera_system_desc& s_;
  SystemValues& fields_;
  long double (*round_)(tessera_dtype, long double);
  SystemValues::value_type next_;  ///< of each field that this step has updated
  Place extents_;
  std::set<std::int32_t> stages_;
};

}  // namespace

void interpret(const tessera_system_desc& system, SystemValues& fields, const SeriesValues& injected,
               SeriesValues& recorded, long double (*round)(tessera_dtype dtype, long double value)) {
  recorded.assign(std::size_t(system.recording_count), std::vector<Values>(std::size_t(system.steps)));
  Interpreter interpreter(system, fields, round);
  for (std::size_t step = 0; step < std::size_t(system.steps); ++step) interpreter.step(step, injected, recorded);
}

}  // namespace tessera::test
