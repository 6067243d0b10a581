// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// From the updates of a stage to the records of a launch.
#pragma once

#include "program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::cuda {

using plugin::Index3;
using plugin::SystemProblem;

/// The strides, in bytes, of most arrays.
struct Common {
  Index3 strides;
  tessera_dtype dtype;
};

inline Common common_of(const SystemProblem& problem) {
  const SystemProblem::Field& state = problem.fields[std::size_t(problem.updates.front().field)];
  return {state.strides, state.dtype};
}

template <class T>
class ProgramBuilder {
 public:
  ProgramBuilder(const SystemProblem& problem, Program<T>& program)
      : p_(problem), program_(program), common_(common_of(problem)) {}

  void add_field(int field, int stage) {
    MadeField made{field, std::int32_t(program_.boxes.size()), 0, array(field, 1), array(field, 0)};
    for (const SystemProblem::Update& update : p_.updates)
      if (update.stage == stage && update.field == field) add(update);
    made.last_box = std::int32_t(program_.boxes.size());
    take_type(p_.fields[std::size_t(field)].dtype);
    program_.alike &= place_of(p_.fields[std::size_t(field)]) == Place::common;
    program_.made.push_back(made);
  }

 private:
  std::int16_t array(int field, int level) {
    auto& arrays = program_.arrays;
    const auto known = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const ArrayOf& a) { return a.field == field && a.level == level; });
    if (known != arrays.end()) return std::int16_t(known - arrays.begin());
    arrays.push_back({field, level});
    return std::int16_t(arrays.size() - 1);
  }

  void add(const SystemProblem::Update& update) {
    UpdateBox box{};
    Index3 before{}, behind{};
    for_each_factor(update, [&](const SystemProblem::Factor& f) {
      const SystemProblem::Field& field = p_.fields[std::size_t(f.field)];
      for (std::size_t a = 0; a < 3; ++a) {
        if (asks_outside(field, a, 0)) before[a] = std::max(before[a], -f.offset[a]);
        if (asks_outside(field, a, 1)) behind[a] = std::max(behind[a], f.offset[a]);
      }
    });
    for (std::size_t a = 0; a < 3; ++a) {
      box.low[a] = std::max(update.low[a], update.frozen[a][0]);
      box.high[a] = std::min(update.high[a], p_.extents[a] - update.frozen[a][1]);
      box.plain_low[a] = std::max(box.low[a], before[a]);
      box.plain_high[a] = std::min(box.high[a], p_.extents[a] - behind[a]);
    }
    box.first = std::int32_t(program_.records.size());
    for (const SystemProblem::Group& group : update.groups) {
      for (const SystemProblem::Term& term : group.terms) add(term);
      for (const SystemProblem::Factor& f : group.factors) read(f, T(1), Step::scale);
      append(Step::end, T(0));
    }
    while (program_.records.size() % std::size_t(kRecordBatch) != 0) append(Step::nothing, T(0));
    box.last = std::int32_t(program_.records.size());
    program_.boxes.push_back(box);
  }

  void add(const SystemProblem::Term& term) {
    const std::size_t count = term.factors.size();
    if (count == 0) append(Step::constant, T(term.coefficient));
    for (std::size_t i = 0; i < count; ++i)
      read(term.factors[i], T(term.coefficient),
           count == 1       ? Step::add
           : i == 0         ? Step::begin
           : i + 1 == count ? Step::multiply_add
                            : Step::multiply);
  }

  /// A record that reads nothing.
  void append(Step step, T coefficient) {
    Record<T> record{};
    record.step = step;
    record.coefficient = coefficient;
    program_.records.push_back(record);
    program_.offsets.push_back({});
  }

  void read(const SystemProblem::Factor& f, T coefficient, Step step) {
    const SystemProblem::Field& field = p_.fields[std::size_t(f.field)];
    Record<T> record{};
    record.coefficient = coefficient;
    record.array = array(f.field, field.state() ? f.level : 0);
    record.field = std::int16_t(f.field);
    record.step = step;
    record.map = std::uint8_t(f.map);
    record.dtype = std::uint8_t(field.dtype);
    record.place = place_of(field);
    RecordOffset offset{};
    for (std::size_t a = 0; a < 3; ++a) {
      offset.by[a] = std::int16_t(f.offset[a]);
      record.distance += f.offset[a] * field.strides[a] * element_bytes(field);
    }
    if (record.place >= Place::along0 && record.place <= Place::along2)
      record.stride = std::int32_t(field.strides[std::size_t(field.axis)] * element_bytes(field));
    program_.plain &= f.map == TESSERA_MAP_IDENTITY;
    take_type(field.dtype);
    program_.records.push_back(record);
    program_.offsets.push_back(offset);
  }

  void take_type(tessera_dtype dtype) {
    program_.same_type &= dtype == p_.dtype;
    program_.plain &= program_.same_type;
  }

  Place place_of(const SystemProblem::Field& field) const {
    if (field.kind == TESSERA_FIELD_PROFILE) {
      const std::int64_t bytes = field.strides[std::size_t(field.axis)] * element_bytes(field);
      return bytes <= INT32_MAX ? Place(int(Place::along0) + field.axis) : Place::other;
    }
    return field.strides == common_.strides && field.dtype == common_.dtype ? Place::common : Place::other;
  }

  const SystemProblem& p_;
  Program<T>& program_;
  Common common_;
};

/// What a launch that makes these fields of a stage does.
template <class T>
Program<T> program_of(const SystemProblem& problem, int stage, const std::vector<int>& fields) {
  Program<T> program;
  ProgramBuilder<T> builder(problem, program);
  for (const int field : fields) builder.add_field(field, stage);
  return program;
}

}  // namespace tessera::cuda
