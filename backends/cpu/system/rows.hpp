// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every system, row by row: the sums of a stage's updates are made in buffers that a core's cache holds, a term after
/// the other, and stored when all of them have read. The order of sums is that of the description.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::cpu {

using plugin::Index3;
using plugin::SystemProblem;

/// Where each field's levels are: element 0 is the one that level +1 is written to, element 1 - l that of level l.
using SystemPointers = std::vector<std::array<void*, TESSERA_MAX_LEVELS + 1>>;

/// Makes rows of a stage. One for each thread.
template <class T>
class SystemRow {
 public:
  SystemRow(const SystemProblem& problem, std::span<const SystemProblem::Update> stage, const SystemPointers& pointers)
      : p_(problem), stage_(stage), pointers_(pointers), n_(std::size_t(problem.extents[2])) {
    for (const SystemProblem::Update& update : stage)
      for (const SystemProblem::Group& group : update.groups)
        for (const SystemProblem::Term& term : group.terms)
          for (const SystemProblem::Factor& f : term.factors)
            margin_ = std::max<std::size_t>(margin_, std::size_t(std::max(f.offset[2], -f.offset[2])));
    for (const SystemProblem::Update& update : stage)
      if (std::find(made_.begin(), made_.end(), update.field) == made_.end()) made_.push_back(update.field);
    sums_.assign(made_.size(), std::vector<T>(n_));
    update_.resize(n_), group_.resize(n_);
  }

  /// The new values of all fields that the stage makes, at (i, j, *).
  void step(std::int64_t i, std::int64_t j) {
    lines_.clear();
    used_ = 0;
    for (std::size_t m = 0; m < made_.size(); ++m) {
      T* const sum = sums_[m].data();
      keep(made_[m], i, j, sum, 0, p_.extents[2]);
      for (const SystemProblem::Update& u : stage_) {
        if (u.field != made_[m] || !contains(u, i, j) || frozen(u, 0, i) || frozen(u, 1, j)) continue;
        const std::int64_t begin = std::max(u.low[2], u.frozen[2][0]);
        const std::int64_t end = std::min(u.high[2], p_.extents[2] - u.frozen[2][1]);
        if (begin >= end) continue;
        evaluate(u, i, j, update_.data());
        std::copy(update_.begin() + begin, update_.begin() + end, sum + begin);
      }
    }
    for (std::size_t m = 0; m < made_.size(); ++m) store(made_[m], i, j, sums_[m].data());
  }

 private:
  using Factor = SystemProblem::Factor;

  static bool contains(const SystemProblem::Update& u, std::int64_t i, std::int64_t j) {
    return i >= u.low[0] && i < u.high[0] && j >= u.low[1] && j < u.high[1];
  }
  bool frozen(const SystemProblem::Update& u, int axis, std::int64_t x) const {
    const auto& f = u.frozen[std::size_t(axis)];
    return x < f[0] || x >= p_.extents[std::size_t(axis)] - f[1];
  }

  void evaluate(const SystemProblem::Update& u, std::int64_t i, std::int64_t j, T* sum) {
    std::fill_n(sum, n_, T(0));
    for (const SystemProblem::Group& group : u.groups) {
      const bool alone = group.factors.empty();
      T* const target = alone ? sum : group_.data();
      if (!alone) std::fill_n(target, n_, T(0));
      for (const SystemProblem::Term& term : group.terms) add(term, i, j, target);
      if (alone) continue;
      for (std::size_t f = 0; f + 1 < group.factors.size(); ++f) {
        const T* const line = this->line(group.factors[f], i, j);
        for (std::size_t k = 0; k < n_; ++k) target[k] *= line[k];
      }
      const T* const last = line(group.factors.back(), i, j);
      for (std::size_t k = 0; k < n_; ++k) sum[k] += target[k] * last[k];
    }
  }

  void add(const SystemProblem::Term& term, std::int64_t i, std::int64_t j, T* sum) {
    const T c = T(term.coefficient);
    if (term.factors.empty()) {
      for (std::size_t k = 0; k < n_; ++k) sum[k] += c;
    } else if (term.factors.size() == 1) {
      const T* const a = line(term.factors[0], i, j);
      for (std::size_t k = 0; k < n_; ++k) sum[k] += c * a[k];
    } else {
      const T *const a = line(term.factors[0], i, j), *const b = line(term.factors[1], i, j);
      if (term.factors.size() == 2) {
        for (std::size_t k = 0; k < n_; ++k) sum[k] += c * a[k] * b[k];
        return;
      }
      const T* const d = line(term.factors[2], i, j);
      for (std::size_t k = 0; k < n_; ++k) sum[k] += c * a[k] * b[k] * d[k];
    }
  }

  /// Level 0's values, where nothing is computed.
  void keep(int which, std::int64_t i, std::int64_t j, T* sum, std::int64_t begin, std::int64_t end) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(which)];
    plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
      const S* const row =
          static_cast<const S*>(pointers_[std::size_t(which)][1]) + i * field.strides[0] + j * field.strides[1];
      for (std::int64_t k = begin; k < end; ++k) sum[k] = T(plugin::Scalar<S>(row[k * field.strides[2]]));
    });
  }
  void store(int which, std::int64_t i, std::int64_t j, const T* sum) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(which)];
    plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
      S* const row = static_cast<S*>(pointers_[std::size_t(which)][0]) + i * field.strides[0] + j * field.strides[1];
      for (std::int64_t k = 0; k < p_.extents[2]; ++k) row[k * field.strides[2]] = S(plugin::Scalar<S>(sum[k]));
    });
  }

  /// A factor's values along the row, with what stands for points outside. Kept until the next row.
  const T* line(const Factor& f, std::int64_t i, std::int64_t j) {
    const auto same = [&](const Line& known) {
      return known.field == f.field && known.level == f.level && known.map == f.map && known.offset[0] == f.offset[0] &&
             known.offset[1] == f.offset[1];
    };
    auto known = std::find_if(lines_.begin(), lines_.end(), same);
    if (known == lines_.end()) {
      if (used_ == buffers_.size()) buffers_.emplace_back(n_ + 2 * margin_);
      lines_.push_back({f.field, f.level, f.map, {f.offset[0], f.offset[1]}, read(f, i, j, buffers_[used_].data())});
      used_ += lines_.back().values == buffers_[used_].data() + margin_ ? 1 : 0;
      known = lines_.end() - 1;
    }
    return known->values + f.offset[2];
  }

  /// Fills a buffer, or finds the values where they are.
  const T* read(const Factor& f, std::int64_t i, std::int64_t j, T* buffer) const {
    const SystemProblem::Field& field = p_.fields[std::size_t(f.field)];
    T* const values = buffer + margin_;
    Index3 at{i + f.offset[0], j + f.offset[1], 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t n = p_.extents[axis];
      if (at[axis] >= 0 && at[axis] < n) continue;
      const std::size_t side = at[axis] < 0 ? 0 : 1;
      if (field.mode[axis][side] == TESSERA_BOUNDARY_CONSTANT) {
        std::fill_n(buffer, n_ + 2 * margin_, mapped(f.map, T(field.value[axis][side])));
        return values;
      }
      at[axis] = plugin::Domain::mapped(field.mode[axis][side], n, at[axis]);
    }
    const std::size_t level = field.kind == TESSERA_FIELD_STATE ? std::size_t(1 - f.level) : 1;
    plugin::with_types(field.dtype, [&]<class S>(std::type_identity<S>) {
      const S* const row = static_cast<const S*>(pointers_[std::size_t(f.field)][level]) + at[0] * field.strides[0] +
                           at[1] * field.strides[1];
      for (std::size_t k = 0; k < n_; ++k)
        values[k] = mapped(f.map, T(plugin::Scalar<S>(row[std::int64_t(k) * field.strides[2]])));
      fill_ends(f, field, row, values);
    });
    return values;
  }

  template <class S>
  void fill_ends(const Factor& f, const SystemProblem::Field& field, const S* row, T* values) const {
    const auto n = std::int64_t(n_), margin = std::int64_t(margin_);
    const auto outside = [&](std::int64_t k) {
      const std::size_t side = k < 0 ? 0 : 1;
      if (field.mode[2][side] == TESSERA_BOUNDARY_CONSTANT) return mapped(f.map, T(field.value[2][side]));
      if (field.mode[2][side] == TESSERA_BOUNDARY_FIXED) return T(0);  // points that would read it keep their values
      return mapped(f.map,
                    T(plugin::Scalar<S>(row[plugin::Domain::mapped(field.mode[2][side], n, k) * field.strides[2]])));
    };
    for (std::int64_t k = 0; k < margin; ++k) values[-1 - k] = outside(-1 - k), values[n + k] = outside(n + k);
  }

  static T mapped(tessera_map map, T x) {
    switch (map) {
      case TESSERA_MAP_ABS:
        return x < T(0) ? -x : x;
      case TESSERA_MAP_POSITIVE_PART:
        return x < T(0) ? T(0) : x;
      case TESSERA_MAP_NEGATIVE_PART:
        return x > T(0) ? T(0) : x;
      case TESSERA_MAP_RECIPROCAL:
        return T(1) / x;
      default:
        return x;
    }
  }

  struct Line {
    int field, level;
    tessera_map map;
    std::array<std::int64_t, 2> offset;
    const T* values;
  };

  const SystemProblem& p_;
  std::span<const SystemProblem::Update> stage_;
  const SystemPointers& pointers_;
  std::size_t n_, margin_ = 0, used_ = 0;
  std::vector<std::vector<T>> sums_;
  std::vector<T> update_, group_;
  std::vector<int> made_;  ///< fields
  std::vector<std::vector<T>> buffers_;
  std::vector<Line> lines_;
};

}  // namespace tessera::cpu
