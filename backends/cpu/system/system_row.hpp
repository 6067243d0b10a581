// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Rows of a stage of a system: the sums of its updates are made in buffers that a core's cache holds, and stored when
/// all of them have read. Values are read where they are; those of other types, of rows with gaps, through a map or
/// beyond the domain's sides are brought to a buffer.
#pragma once

#include "line_sums.hpp"

#include <tessera/plugin/system_levels.hpp>
#include <tessera/plugin/system_map.hpp>
#include <tessera/plugin/system_problem.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::cpu {

using plugin::Index3;
using plugin::SystemProblem;

/// Makes rows of a stage, one after the other. Each share of the work has one of its own.
template <class T>
class SystemRow {
 public:
  /// `problem`, `stage` and `levels` outlive it.
  SystemRow(const SystemProblem& problem, std::span<const SystemProblem::Update> stage,
            const plugin::SystemLevels& levels)
      : p_(problem), stage_(stage), levels_(levels), n_(problem.extents[2]) {
    for (const SystemProblem::Update& update : stage)
      if (std::find(made_.begin(), made_.end(), update.field) == made_.end()) made_.push_back(update.field);
    for (const SystemProblem::Field& field : problem.fields)
      same_.push_back(field.dtype == problem.dtype && field.strides[2] == 1);
    arrays_.resize(problem.fields.size());
    sums_.assign(made_.size(), std::vector<T>(std::size_t(n_)));
    terms_.resize(std::size_t(n_));
    for (const SystemProblem::Update& update : stage)
      for (const SystemProblem::Group& group : update.groups) {
        for (const Factor& f : group.factors) provide(f);
        for (const SystemProblem::Term& term : group.terms)
          for (const Factor& f : term.factors) provide(f);
      }
    for (std::size_t b = 0; b < lines_.size(); ++b) buffers_.emplace_back(std::size_t(n_ + 2 * margin_));
  }

  /// Finds the arrays of a step. Comes before its first row.
  void begin(std::int64_t number) {
    for (std::size_t f = 0; f < arrays_.size(); ++f)
      for (int level = 1; level > -p_.fields[f].levels; --level)
        arrays_[f][std::size_t(1 - level)] = levels_.at(int(f), level, number);
  }

  /// The new values of all fields that the stage makes, at (i, j, *).
  void step(std::int64_t i, std::int64_t j) {
    at_ = {i, j, 0};
    lines_.clear();
    for (std::size_t m = 0; m < made_.size(); ++m) {
      keep(made_[m], sums_[m].data());
      for (const SystemProblem::Update& u : stage_) {
        if (u.field != made_[m] || !reaches(u)) continue;
        const std::int64_t begin = std::max({u.low[2], u.frozen[2][0], p_.low[2]}),
                           end = std::min({u.high[2], n_ - u.frozen[2][1], p_.high[2]});
        if (begin < end) evaluate(u, begin, end, sums_[m].data());
      }
    }
    for (std::size_t m = 0; m < made_.size(); ++m) store(made_[m], sums_[m].data());
  }

 private:
  using Factor = SystemProblem::Factor;

  /// Sees to it that there is a buffer for the values of a factor, where they may not be read where they are.
  void provide(const Factor& f) {
    const SystemProblem::Field& field = p_.fields[std::size_t(f.field)];
    margin_ = std::max({margin_, f.offset[2], -f.offset[2]});
    bool leaves = false;
    for (std::size_t axis = 0; axis < f.offset.size(); ++axis)
      leaves |= f.offset[axis] != 0 && field.mode[axis][f.offset[axis] < 0 ? 0 : 1] != TESSERA_BOUNDARY_FIXED;
    const bool direct = same_[std::size_t(f.field)] != 0 && f.map == TESSERA_MAP_IDENTITY && !leaves;
    if (!direct && find(f) == lines_.end()) lines_.push_back(line_of(f, nullptr));
  }

  /// Whether the update computes points of the row.
  bool reaches(const SystemProblem::Update& u) const {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t x = at_[axis], n = p_.extents[axis];
      if (x < u.low[axis] || x >= u.high[axis] || x < u.frozen[axis][0] || x >= n - u.frozen[axis][1]) return false;
    }
    return true;
  }

  void evaluate(const SystemProblem::Update& u, std::int64_t begin, std::int64_t end, T* sum) {
    bool onto = false;
    for (const SystemProblem::Group& group : u.groups) {
      if (group.factors.empty()) {
        add(group.terms, begin, end, sum, onto);
      } else {
        add(group.terms, begin, end, terms_.data(), false);
        T scale = T(1);
        std::size_t count = 0;
        std::array<const T*, TESSERA_MAX_GROUP_FACTORS> values{};
        for (const Factor& f : group.factors)
          if (along_row(f))
            values[count++] = line(f, begin, end);
          else
            scale *= constant(f);
        with_count<TESSERA_MAX_GROUP_FACTORS>(
            count, [&](auto n) { add_group<T, n>(sum, onto, terms_.data(), scale, values, begin, end); });
      }
      onto = true;
    }
  }

  void add(const std::vector<SystemProblem::Term>& terms, std::int64_t begin, std::int64_t end, T* sum, bool onto) {
    std::array<ScaledLine<T>, kMostLines> lines;
    for (std::size_t t = 0; t < terms.size();) {
      std::size_t run = 0;  // terms of one value
      while (t + run < terms.size() && terms[t + run].factors.size() == 1) ++run;
      const std::size_t loops = (run + kMostLines - 1) / kMostLines;
      for (std::size_t loop = 0, done = 0; loop < loops; ++loop) {
        const std::size_t count = run * (loop + 1) / loops - done;
        for (std::size_t i = 0; i < count; ++i, ++t)
          lines[i] = {T(terms[t].coefficient), line(terms[t].factors[0], begin, end)};
        add_lines(sum, onto, lines.data(), count, begin, end);
        done += count, onto = true;
      }
      if (t == terms.size() || terms[t].factors.size() == 1) continue;
      const SystemProblem::Term& term = terms[t++];
      std::array<const T*, TESSERA_MAX_FACTORS> values{};
      for (std::size_t f = 0; f < term.factors.size(); ++f) values[f] = line(term.factors[f], begin, end);
      with_count<TESSERA_MAX_FACTORS>(
          term.factors.size(), [&](auto n) { add_product<T, n>(sum, onto, T(term.coefficient), values, begin, end); });
      onto = true;
    }
  }

  /// Whether a factor at offset 0 has different values along the row.
  bool along_row(const Factor& f) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(f.field)];
    return field.kind != TESSERA_FIELD_PROFILE || field.axis == 2;
  }
  T constant(const Factor& f) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(f.field)];
    const std::int64_t x = at_[std::size_t(field.axis)] * field.strides[std::size_t(field.axis)];
    return plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
      return plugin::mapped_value(f.map,
                                  T(plugin::Scalar<S>(static_cast<const S*>(arrays_[std::size_t(f.field)][1])[x])));
    });
  }

  /// Level 0's values, where nothing is computed.
  void keep(int which, T* sum) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(which)];
    plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
      const S* const row = row_of<const S>(which, 0, at_);
      for (std::int64_t k = p_.low[2]; k < p_.high[2]; ++k) sum[k] = T(plugin::Scalar<S>(row[k * field.strides[2]]));
    });
  }
  void store(int which, const T* sum) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(which)];
    plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
      S* const row = row_of<S>(which, 1, at_);
      if (field.strides[2] == 1)
        for (std::int64_t k = p_.low[2]; k < p_.high[2]; ++k) row[k] = S(plugin::Scalar<S>(sum[k]));
      else
        for (std::int64_t k = p_.low[2]; k < p_.high[2]; ++k) row[k * field.strides[2]] = S(plugin::Scalar<S>(sum[k]));
    });
  }
  template <class S>
  S* row_of(int which, int level, const Index3& at) const {
    const Index3& strides = p_.fields[std::size_t(which)].strides;
    return static_cast<S*>(arrays_[std::size_t(which)][std::size_t(1 - level)]) + at[0] * strides[0] +
           at[1] * strides[1];
  }

  /// A factor's values, to be read at [begin, end).
  const T* line(const Factor& f, std::int64_t begin, std::int64_t end) {
    const Index3 at{at_[0] + f.offset[0], at_[1] + f.offset[1], 0};
    const bool inside = at[0] >= 0 && at[0] < p_.extents[0] && at[1] >= 0 && at[1] < p_.extents[1] &&
                        begin + f.offset[2] >= 0 && end + f.offset[2] <= n_;
    if (inside && same_[std::size_t(f.field)] && f.map == TESSERA_MAP_IDENTITY)
      return row_of<const T>(f.field, f.level, at) + f.offset[2];
    auto known = find(f);
    if (known == lines_.end()) {
      T* const buffer = buffers_[lines_.size()].data();
      fill(f, at, buffer);
      lines_.push_back(line_of(f, buffer + margin_));
      known = lines_.end() - 1;
    }
    return known->values + f.offset[2];
  }

  /// The values of a whole row, with what stands for points outside.
  void fill(const Factor& f, Index3 at, T* buffer) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(f.field)];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t n = p_.extents[axis];
      if (at[axis] >= 0 && at[axis] < n) continue;
      const std::size_t side = at[axis] < 0 ? 0 : 1;
      if (field.mode[axis][side] != TESSERA_BOUNDARY_CONSTANT) continue;
      std::fill_n(buffer, n_ + 2 * margin_, plugin::mapped_value(f.map, T(field.value[axis][side])));
      return;
    }
    for (std::size_t axis = 0; axis < 2; ++axis)
      if (at[axis] < 0 || at[axis] >= p_.extents[axis])
        at[axis] = plugin::Domain::mapped(field.mode[axis][at[axis] < 0 ? 0 : 1], p_.extents[axis], at[axis]);
    T* const values = buffer + margin_;
    plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
      const S* const row = row_of<const S>(f.field, f.level, at);
      for (std::int64_t k = 0; k < n_; ++k)
        values[k] = plugin::mapped_value(f.map, T(plugin::Scalar<S>(row[k * field.strides[2]])));
      fill_ends(f, field, row, values);
    });
  }

  template <class S>
  void fill_ends(const Factor& f, const SystemProblem::Field& field, const S* row, T* values) const {
    const auto outside = [&](std::int64_t k) {
      const std::size_t side = k < 0 ? 0 : 1;
      if (field.mode[2][side] == TESSERA_BOUNDARY_CONSTANT) return plugin::mapped_value(f.map, T(field.value[2][side]));
      if (field.mode[2][side] == TESSERA_BOUNDARY_FIXED) return T(0);  // points that would read it keep their values
      return plugin::mapped_value(
          f.map, T(plugin::Scalar<S>(row[plugin::Domain::mapped(field.mode[2][side], n_, k) * field.strides[2]])));
    };
    for (std::int64_t k = 0; k < margin_; ++k) values[-1 - k] = outside(-1 - k), values[n_ + k] = outside(n_ + k);
  }

  /// A row in a buffer.
  struct Line {
    int field, level;
    tessera_map map;
    std::array<std::int64_t, 2> offset;
    const T* values;
  };
  static Line line_of(const Factor& f, const T* values) {
    return {f.field, f.level, f.map, {f.offset[0], f.offset[1]}, values};
  }
  typename std::vector<Line>::iterator find(const Factor& f) {
    return std::find_if(lines_.begin(), lines_.end(), [&f](const Line& known) {
      return known.field == f.field && known.level == f.level && known.map == f.map && known.offset[0] == f.offset[0] &&
             known.offset[1] == f.offset[1];
    });
  }

  const SystemProblem& p_;
  std::span<const SystemProblem::Update> stage_;
  const plugin::SystemLevels& levels_;
  std::int64_t n_, margin_ = 0;
  std::vector<char> same_;  ///< whether a field is stored as T, point beside point
  /// Where the levels of each field are in this step: 1, 0, -1, -2.
  std::vector<std::array<void*, TESSERA_MAX_LEVELS + 1>> arrays_;
  Index3 at_{};
  std::vector<int> made_;  ///< fields
  std::vector<std::vector<T>> sums_;
  std::vector<T> terms_;  ///< a group's sum
  std::vector<std::vector<T>> buffers_;
  std::vector<Line> lines_;
};

}  // namespace tessera::cpu
