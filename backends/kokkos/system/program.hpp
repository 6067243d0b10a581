// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The updates of a stage as flat lists, which kernels read: fields that are made, their boxes, the groups of a box,
/// the terms and factors of a group.
#pragma once

#include "../flavour.hpp"

#include <tessera/plugin/system_problem.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::kokkos {

using plugin::SystemProblem;

/// Entries [first, last) of a list.
struct Entries {
  std::int32_t first, last;
};

/// A value that is read.
struct FactorRecord {
  std::int64_t distance;  ///< elements from the point's own to the one that is read
  std::int32_t offset[3];
  std::int32_t array;  ///< among those of the launch
  std::int32_t field;
  tessera_map map;
};

template <class T>
struct TermRecord {
  T coefficient;
  Entries factors;
};

struct GroupRecord {
  Entries terms;
  Entries factors;  ///< by which the terms' sum is multiplied
};

/// An update of a field.
struct BoxRecord {
  std::int64_t low[3], high[3];              ///< where it is evaluated: its box without frozen points
  std::int64_t inner_low[3], inner_high[3];  ///< where no value is read outside the domain
  Entries groups;
};

/// A field that is made.
struct MadeField {
  std::int32_t field;
  std::int32_t target, source;  ///< arrays of its new level and of level 0
  Entries boxes;
};

/// Where a field's elements are, and what stands for values outside the domain.
struct FieldPlace {
  plugin::Domain domain;
  std::int64_t strides[3];  ///< elements
  tessera_dtype dtype;

  KOKKOS_INLINE_FUNCTION std::int64_t at(const std::int64_t (&point)[3]) const {
    return point[0] * strides[0] + point[1] * strides[1] + point[2] * strides[2];
  }
};

/// A level of a field, which an array of a launch holds.
struct ArrayOf {
  int field, level;
};

template <class T>
class Program {
 public:
  Program(const SystemProblem& problem, int stage) : p_(problem) {
    for (const SystemProblem::Update& update : p_.updates) {
      const auto same = [&](const MadeField& known) { return known.field == update.field; };
      if (update.stage == stage && std::none_of(made.begin(), made.end(), same)) make(update.field);
    }
  }

  std::vector<MadeField> made;
  std::vector<BoxRecord> boxes;
  std::vector<GroupRecord> groups;
  std::vector<TermRecord<T>> terms;
  std::vector<FactorRecord> factors;
  std::vector<ArrayOf> arrays;

 private:
  using Factors = std::vector<SystemProblem::Factor>;

  template <class Item>
  static std::int32_t size(const std::vector<Item>& items) {
    return std::int32_t(items.size());
  }

  std::int32_t array(int field, int level) {
    const auto same = [&](const ArrayOf& known) { return known.field == field && known.level == level; };
    const auto known = std::find_if(arrays.begin(), arrays.end(), same);
    if (known != arrays.end()) return std::int32_t(known - arrays.begin());
    arrays.push_back({field, level});
    return size(arrays) - 1;
  }

  /// A field is made in one stage alone.
  void make(int field) {
    const std::int32_t first = size(boxes);
    for (const SystemProblem::Update& update : p_.updates)
      if (update.field == field) add(update);
    made.push_back({field, array(field, 1), array(field, 0), {first, size(boxes)}});
  }

  void add(const SystemProblem::Update& update) {
    const std::int32_t first_group = size(groups), first_factor = size(factors);
    for (const SystemProblem::Group& group : update.groups) {
      const std::int32_t first_term = size(terms);
      for (const SystemProblem::Term& term : group.terms) terms.push_back({T(term.coefficient), added(term.factors)});
      groups.push_back({{first_term, size(terms)}, added(group.factors)});
    }
    BoxRecord box{};
    box.groups = {first_group, size(groups)};
    for (std::size_t a = 0; a < 3; ++a) {
      std::int64_t before = 0, behind = 0;
      for (std::size_t f = std::size_t(first_factor); f < factors.size(); ++f) {
        before = std::max<std::int64_t>(before, -factors[f].offset[a]);
        behind = std::max<std::int64_t>(behind, factors[f].offset[a]);
      }
      box.low[a] = std::max(update.low[a], update.frozen[a][0]);
      box.high[a] = std::min(update.high[a], p_.extents[a] - update.frozen[a][1]);
      box.inner_low[a] = std::max(box.low[a], before);
      box.inner_high[a] = std::min(box.high[a], p_.extents[a] - behind);
    }
    boxes.push_back(box);
  }

  Entries added(const Factors& list) {
    const std::int32_t first = size(factors);
    for (const SystemProblem::Factor& f : list) {
      FactorRecord record{0, {}, array(f.field, f.level), f.field, f.map};
      for (std::size_t a = 0; a < 3; ++a) {
        record.offset[a] = std::int32_t(f.offset[a]);
        record.distance += f.offset[a] * p_.fields[std::size_t(f.field)].strides[a];
      }
      factors.push_back(record);
    }
    return {first, size(factors)};
  }

  const SystemProblem& p_;
};

inline std::vector<FieldPlace> places_of(const SystemProblem& problem) {
  std::vector<FieldPlace> places;
  for (const SystemProblem::Field& field : problem.fields) {
    FieldPlace& place = places.emplace_back();
    place.dtype = field.dtype;
    for (std::size_t a = 0; a < 3; ++a) {
      place.strides[a] = field.strides[a];
      place.domain.extents[a] = problem.extents[a];
      for (std::size_t side = 0; side < 2; ++side) {
        place.domain.mode[a][side] = field.mode[a][side];
        place.domain.value[a][side] = field.value[a][side];
      }
    }
  }
  return places;
}

}  // namespace tessera::kokkos
