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

/// Fields on a domain of three axes, first to last the slowest to the fastest; a lower rank has leading axes of extent
/// 1 and stride 0. The core has checked it.
struct SystemProblem {
  /// A state, an array or a profile, and how it is stored.
  struct Field {
    tessera_field_kind kind;
    tessera_dtype dtype;
    int levels;
    int axis;        ///< of a profile
    bool apart;      ///< of a state: the next level goes into an array of the workspace, not over the oldest one
    Index3 strides;  ///< elements; of a profile along its axis alone
    std::array<std::array<tessera_boundary, 2>, kAxes> mode;
    std::array<std::array<double, 2>, kAxes> value;
    int first_operand;  ///< place of its newest level among the operands; older ones come behind it

    bool state() const { return kind == TESSERA_FIELD_STATE; }
    bool has_fixed_sides() const {
      return std::all_of(mode.begin(), mode.end(), [](const auto& sides) {
        return std::all_of(sides.begin(), sides.end(), [](tessera_boundary m) { return m == TESSERA_BOUNDARY_FIXED; });
      });
    }
    /// Arrays that take turns.
    int arrays() const { return levels + (apart ? 1 : 0); }
    /// Elements from its first point to behind its last.
    std::int64_t span(const Index3& extents) const {
      std::int64_t reach = 0;
      for (std::size_t a = 0; a < std::size_t(kAxes); ++a) reach += (extents[a] - 1) * strides[a];
      return reach + 1;
    }
  };
  /// A value that is read: map(field[p + offset] at a level); levels count as those of tessera_factor.
  struct Factor {
    int field, level;
    tessera_map map;
    Index3 offset;
  };
  /// coefficient * product of at most TESSERA_MAX_FACTORS factors.
  struct Term {
    double coefficient;
    std::vector<Factor> factors;
  };
  /// (product of at most TESSERA_MAX_GROUP_FACTORS factors at offset 0) * sum of terms.
  struct Group {
    std::vector<Factor> factors;
    std::vector<Term> terms;
  };
  /// The next level of a state, in the points from `low` to before `high`: a sum of groups.
  struct Update {
    int field, stage;
    Index3 low, high;
    std::vector<Group> groups;
    /// How far from each side of the domain points keep their values, since a read would leave across a fixed side.
    std::array<std::array<std::int64_t, 2>, kAxes> frozen;
  };

  /// Entries of injections or recordings.
  struct Points {
    /// A point of the domain, and the column of the series that it belongs to.
    struct Entry {
      Index3 point;
      double weight;
      std::int64_t series;
    };
    int field, stage;
    std::vector<Entry> entries;
    std::int64_t series_count;
    int operand;  ///< place of its series among the operands
  };

  tessera_dtype dtype;
  int rank;
  Index3 extents;
  Index3 low, high;  ///< the points that a step makes; others are not written
  std::int64_t steps;
  std::vector<Field> fields;
  std::vector<Update> updates;  ///< by stages
  std::vector<Points> injections, recordings;
  std::vector<int> stages;  ///< those that do something, in order
  int multiprocessors = 0;  ///< of the device's, that kernels may occupy; 0: all

  static constexpr tessera_op kOp = TESSERA_OP_SYSTEM;

  explicit SystemProblem(const tessera_desc* source)
      : SystemProblem(read_struct<tessera_system_desc>(source, "the system descriptor")) {}
  explicit SystemProblem(const tessera_system_desc& d)
      : dtype(d.dtype), rank(d.rank), extents{1, 1, 1}, low{0, 0, 0}, high{1, 1, 1}, steps(d.steps) {
    require_known(dtype, TESSERA_COMPUTE_STRICT);
    const int lead = kAxes - rank;
    const bool boxed = std::any_of(d.high, d.high + rank, [](std::int64_t x) { return x != 0; });
    for (int axis = lead; axis < kAxes; ++axis) {
      extents[std::size_t(axis)] = d.extents[axis - lead];
      low[std::size_t(axis)] = d.low[axis - lead];
      high[std::size_t(axis)] = boxed ? d.high[axis - lead] : d.extents[axis - lead];
    }
    for (std::int64_t i = 0; i < d.field_count; ++i) add(d.fields[i], lead);
    for (std::int64_t i = 0; i < d.update_count; ++i) add(d.updates[i], lead);
    for (std::int64_t i = 0; i < d.injection_count; ++i) injections.push_back(points_of(d.injections[i], lead));
    for (std::int64_t i = 0; i < d.recording_count; ++i) recordings.push_back(points_of(d.recordings[i], lead));
    for (const Update& update : updates) stages.push_back(update.stage);
    for (const auto* list : {&injections, &recordings})
      for (const Points& points : *list) stages.push_back(points.stage);
    std::sort(stages.begin(), stages.end());
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  }

  /// Whether an array or a state has the system's type and no gaps.
  bool is_packed(const Field& f) const {
    return f.strides == Index3{extents[1] * extents[2], extents[2], 1} && f.dtype == dtype;
  }
  /// Points that a step makes.
  double points() const { return double(high[0] - low[0]) * double(high[1] - low[1]) * double(high[2] - low[2]); }
  bool makes_all() const { return low == Index3{0, 0, 0} && high == extents; }
  /// Where the arrays of the workspace begin, in bytes, for each field; the last entry is the size of all.
  std::vector<std::uint64_t> workspace_offsets() const {
    constexpr std::uint64_t kAlignment = 256;
    std::vector<std::uint64_t> offsets{0};
    for (const Field& f : fields) {
      const std::uint64_t bytes = f.apart ? std::uint64_t(f.span(extents)) * size_of(f.dtype) : 0;
      offsets.push_back(offsets.back() + (bytes + kAlignment - 1) / kAlignment * kAlignment);
    }
    return offsets;
  }

 private:
  void add(const tessera_field& f, int lead) {
    Field field{f.kind,
                f.dtype != 0 ? f.dtype : dtype,
                (std::max)(f.levels, 1),
                f.axis + lead,
                f.next == TESSERA_NEXT_APART,
                {0, 0, 0},
                {},
                {},
                operands_};
    operands_ += field.levels;
    const bool profile = f.kind == TESSERA_FIELD_PROFILE;
    for (int axis = 0; axis < kAxes; ++axis)
      for (int side = 0; side < 2; ++side) {
        const bool real = axis >= lead;
        field.mode[std::size_t(axis)][std::size_t(side)] =
            real ? f.boundary[axis - lead][side] : tessera_boundary{TESSERA_BOUNDARY_NEAREST};
        field.value[std::size_t(axis)][std::size_t(side)] = real ? f.boundary_value[axis - lead][side] : 0.0;
      }
    if (profile)
      field.strides[std::size_t(field.axis)] = f.strides[0];
    else
      for (int axis = lead; axis < kAxes; ++axis) field.strides[std::size_t(axis)] = f.strides[axis - lead];
    fields.push_back(field);
  }
  Points points_of(const tessera_points& p, int lead) {
    Points points{p.field, p.stage, {}, p.series_count, operands_++};
    for (std::int64_t i = 0; i < p.count; ++i) {
      Points::Entry entry{{0, 0, 0}, p.weights[i], p.series[i]};
      for (int axis = lead; axis < kAxes; ++axis) entry.point[std::size_t(axis)] = p.points[i * rank + axis - lead];
      points.entries.push_back(entry);
    }
    return points;
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
      if (mode[0] == TESSERA_BOUNDARY_FIXED) frozen[0] = (std::max)(frozen[0], -f.offset[axis]);
      if (mode[1] == TESSERA_BOUNDARY_FIXED) frozen[1] = (std::max)(frozen[1], f.offset[axis]);
    }
  }

  int operands_ = 0;
};

}  // namespace tessera::plugin
