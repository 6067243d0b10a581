// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Systems of fields on the emulated device, point by point. Fields have the type of the system.
#pragma once

#include <tessera/plugin/plugin.hpp>
#include <tessera/plugin/system_levels.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tessera::test {

/// Executes a system on arrays that the host can read: `resolve` turns the pointers of operands into such ones.
template <class T>
class FakeSteps {
 public:
  using Problem = plugin::SystemProblem;

  explicit FakeSteps(const Problem& problem) : p_(problem), levels_(p_) {}

  std::uint64_t workspace_bytes() const { return levels_.workspace_bytes(); }

  /// `operands` in the plugin's order.
  void run(const std::vector<tessera_operand>& operands, void* workspace) {
    const tessera_execution e{
        sizeof e, operands.data(), sizeof operands[0], operands.size(), nullptr, 0, 0, workspace, workspace_bytes(), 0};
    levels_.take(plugin::Execution(e));
    for (step_ = 0; step_ < p_.steps; ++step_)
      for (const int stage : p_.stages) {
        make(stage);
        for (const auto& points : p_.injections)
          if (points.stage == stage) inject(points, series(operands, points));
        for (const auto& points : p_.recordings)
          if (points.stage == stage) record(points, series(operands, points));
      }
    for (std::size_t f = 0; f < p_.fields.size(); ++f) {
      const auto left = levels_.leftover(int(f), p_.steps);
      if (left.source == nullptr) continue;
      for_each_point([&](const plugin::Index3& at) {
        const std::int64_t i = index(int(f), at);
        static_cast<T*>(left.target)[i] = static_cast<const T*>(left.source)[i];
      });
    }
  }

 private:
  T* series(const std::vector<tessera_operand>& operands, const Problem::Points& points) const {
    return static_cast<T*>(operands[std::size_t(points.operand)].data) + step_ * points.series_count;
  }
  std::int64_t index(int field, const plugin::Index3& at) const {
    const plugin::Index3& s = p_.fields[std::size_t(field)].strides;
    return at[0] * s[0] + at[1] * s[1] + at[2] * s[2];
  }
  T& value(int field, int level, const plugin::Index3& at) const {
    return static_cast<T*>(levels_.at(field, level, step_))[index(field, at)];
  }
  template <class Body>
  void for_each_point(Body&& body) const {
    for (std::int64_t i = 0; i < p_.extents[0]; ++i)
      for (std::int64_t j = 0; j < p_.extents[1]; ++j)
        for (std::int64_t k = 0; k < p_.extents[2]; ++k) body(plugin::Index3{i, j, k});
  }

  static T mapped(tessera_map map, T x) {
    if (map == TESSERA_MAP_RECIPROCAL) return T(1) / x;
    const bool minus = x<T(0), plus = x> T(0);
    if (map == TESSERA_MAP_ABS) return minus ? -x : x;
    if (map == TESSERA_MAP_POSITIVE_PART) return minus ? T(0) : x;
    return map == TESSERA_MAP_NEGATIVE_PART && plus ? T(0) : x;
  }
  T read(const Problem::Factor& f, plugin::Index3 at) const {
    const Problem::Field& field = p_.fields[std::size_t(f.field)];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      at[axis] += f.offset[axis];
      const std::size_t side = at[axis] < 0 ? 0 : 1;
      const bool outside = at[axis] < 0 || at[axis] >= p_.extents[axis];
      if (outside && field.mode[axis][side] == TESSERA_BOUNDARY_CONSTANT)
        return mapped(f.map, T(field.value[axis][side]));
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (at[axis] < 0 || at[axis] >= p_.extents[axis])
        at[axis] = plugin::Domain::mapped(field.mode[axis][at[axis] < 0 ? 0 : 1], p_.extents[axis], at[axis]);
    return mapped(f.map, value(f.field, f.level, at));
  }
  T product(const std::vector<Problem::Factor>& factors, const plugin::Index3& at) const {
    T result = T(1);
    for (const Problem::Factor& f : factors) result *= read(f, at);
    return result;
  }

  static bool computes(const Problem& p, const Problem::Update& u, const plugin::Index3& at) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (at[axis] < u.low[axis] || at[axis] >= u.high[axis] || at[axis] < u.frozen[axis][0] ||
          at[axis] >= p.extents[axis] - u.frozen[axis][1])
        return false;
    return true;
  }
  void make(int stage) {
    std::map<int, std::vector<T>> made;
    for (const Problem::Update& u : p_.updates) {
      if (u.stage != stage) continue;
      std::vector<T>& values = made[u.field];
      if (values.empty()) for_each_point([&](const plugin::Index3& at) { values.push_back(value(u.field, 0, at)); });
      std::size_t i = 0;
      for_each_point([&](const plugin::Index3& at) {
        T& next = values[i++];
        if (!computes(p_, u, at)) return;
        next = T(0);
        for (const Problem::Group& group : u.groups) {
          T sum = T(0);
          for (const Problem::Term& term : group.terms) sum += T(term.coefficient) * product(term.factors, at);
          next += sum * product(group.factors, at);
        }
      });
    }
    for (const auto& [field, values] : made) {
      std::size_t i = 0;
      for_each_point([&, which = field, &all = values](const plugin::Index3& at) { value(which, 1, at) = all[i++]; });
    }
  }
  void inject(const Problem::Points& points, const T* row) const {
    for (const auto& [at, weight, i] : points.entries) value(points.field, 1, at) += T(weight) * row[i];
  }
  void record(const Problem::Points& points, T* row) const {
    for (std::int64_t i = 0; i < points.series_count; ++i) row[i] = T(0);
    for (const auto& [at, weight, i] : points.entries) row[i] = std::fma(T(weight), value(points.field, 1, at), row[i]);
  }

  Problem p_;
  plugin::SystemLevels levels_;
  std::int64_t step_ = 0;
};

}  // namespace tessera::test
