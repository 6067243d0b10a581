// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A system of fields as a C++ value that a plan may keep.
#pragma once

#include <tessera/system.h>
#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::plugin {

/// Fields on a domain of three axes; a lower rank has leading axes of extent 1 and stride 0. The core has checked it.
struct SystemProblem {
  struct Field {
    tessera_field_kind kind;
    tessera_dtype dtype;
    int levels;
    int axis;        ///< of a profile
    Index3 strides;  ///< elements; of a profile along its axis alone
    std::array<std::array<tessera_boundary, 2>, kAxes> mode;
    std::array<std::array<double, 2>, kAxes> value;
  };
  struct Factor {
    int field, level;
    tessera_map map;
    Index3 offset;
  };
  struct Term {
    double coefficient;
    std::vector<Factor> factors;
  };
  struct Group {
    std::vector<Factor> factors;
    std::vector<Term> terms;
  };
  struct Update {
    int field, stage;
    Index3 low, high;
    std::vector<Group> groups;
    /// How far from each side of the domain points keep their values, since a read would leave across a fixed side.
    std::array<std::array<std::int64_t, 2>, kAxes> frozen;
  };

  tessera_dtype dtype;
  int rank;
  Index3 extents;
  std::int64_t steps;
  std::vector<Field> fields;
  std::vector<Update> updates;  ///< by stages

  explicit SystemProblem(const tessera_system_desc& d)
      : dtype(d.dtype), rank(d.rank), extents{1, 1, 1}, steps(d.steps) {
    const int lead = kAxes - rank;
    for (int axis = lead; axis < kAxes; ++axis) extents[std::size_t(axis)] = d.extents[axis - lead];
    for (std::int64_t i = 0; i < d.field_count; ++i) add(d.fields[i], lead);
    for (std::int64_t i = 0; i < d.update_count; ++i) add(d.updates[i], lead);
    std::stable_sort(updates.begin(), updates.end(),
                     [](const Update& a, const Update& b) { return a.stage < b.stage; });
  }

 private:
  void add(const tessera_field& f, int lead) {
    Field field{f.kind, f.dtype != 0 ? f.dtype : dtype, std::max(f.levels, 1), f.axis + lead, {0, 0, 0}, {}, {}};
    const bool profile = f.kind == TESSERA_FIELD_PROFILE;
    for (int axis = 0; axis < kAxes; ++axis)
      for (int side = 0; side < 2; ++side) {
        const bool real = axis >= lead;
        field.mode[std::size_t(axis)][std::size_t(side)] =
            real ? f.boundary[axis - lead][side] : tessera_boundary{TESSERA_BOUNDARY_NEAREST};
        field.value[std::size_t(axis)][std::size_t(side)] = real ? f.boundary_value[axis - lead][side] : 0.0;
      }
    if (profile)
      field.strides[std::size_t(field.axis)] = f.strides[0] == TESSERA_PACKED ? 1 : f.strides[0];
    else
      for (int axis = lead; axis < kAxes; ++axis) field.strides[std::size_t(axis)] = f.strides[axis - lead];
    if (!profile && f.strides[0] == TESSERA_PACKED) field.strides = {extents[1] * extents[2], extents[2], 1};
    fields.push_back(field);
  }
  Factor factor_of(const tessera_factor& f, int lead) const {
    Factor factor{f.field, f.level, f.map, {0, 0, 0}};
    for (int axis = lead; axis < kAxes; ++axis) factor.offset[std::size_t(axis)] = f.offset[axis - lead];
    return factor;
  }
  void add(const tessera_update& u, int lead) {
    Update update{u.field, u.stage, {0, 0, 0}, extents, {}, {}};
    const bool whole = std::all_of(u.high, u.high + rank, [](std::int64_t x) { return x == 0; });
    for (int axis = lead; axis < kAxes && !whole; ++axis)
      update.low[std::size_t(axis)] = u.low[axis - lead], update.high[std::size_t(axis)] = u.high[axis - lead];
    for (std::int64_t g = 0; g < u.group_count; ++g) {
      Group group;
      for (std::int64_t i = 0; i < u.groups[g].factor_count; ++i)
        group.factors.push_back(factor_of(u.groups[g].factors[i], lead));
      for (std::int64_t t = 0; t < u.groups[g].term_count; ++t) {
        const tessera_term& given = u.groups[g].terms[t];
        Term term{given.coefficient, {}};
        for (std::int64_t i = 0; i < given.factor_count; ++i) term.factors.push_back(factor_of(given.factors[i], lead));
        for (const Factor& f : term.factors) freeze(update, f);
        group.terms.push_back(std::move(term));
      }
      update.groups.push_back(std::move(group));
    }
    updates.push_back(std::move(update));
  }
  void freeze(Update& update, const Factor& f) const {
    for (std::size_t axis = 0; axis < std::size_t(kAxes); ++axis) {
      const auto& mode = fields[std::size_t(f.field)].mode[axis];
      auto& frozen = update.frozen[axis];
      if (mode[0] == TESSERA_BOUNDARY_FIXED) frozen[0] = std::max(frozen[0], -f.offset[axis]);
      if (mode[1] == TESSERA_BOUNDARY_FIXED) frozen[1] = std::max(frozen[1], f.offset[axis]);
    }
  }
};

}  // namespace tessera::plugin
