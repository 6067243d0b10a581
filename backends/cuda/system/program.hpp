// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The updates of a stage as a list of records that every point follows: host and device share it.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::cuda {

/// What a record does with the value that it reads.
enum class Step : std::uint8_t {
  add,           ///< sum += coefficient * value: a term of one factor
  begin,         ///< product = coefficient * value
  multiply,      ///< product *= value
  multiply_add,  ///< sum += product * value: a term's last factor
  scale,         ///< sum *= value: a factor of a group
  constant,      ///< sum += coefficient
  end,           ///< total += sum: the end of a group
  nothing
};

/// Where a point's own element is.
enum class Place : std::uint8_t {
  common,  ///< where that of most arrays is, which have the same strides and type
  along0,  ///< by its place along an axis: of a profile
  along1,
  along2,
  other  ///< by the strides of the field
};

/// One value that is read. T: the type of the computation.
template <class T>
struct alignas(16) Record {
  std::int64_t distance;  ///< bytes from the point's own element to the one that is read
  T coefficient;
  std::int32_t stride;  ///< bytes, of a profile
  std::int16_t array;   ///< among the pointers of the launch
  std::int16_t field;
  Step step;
  Place place;
  std::uint8_t map;  ///< tessera_map
  std::uint8_t dtype;
};

/// Points from the own one to the one that is read.
struct RecordOffset {
  std::int16_t by[4];
};

/// Records of a box come in so many, which are read together.
inline constexpr int kRecordBatch = 4;

/// A box of a field, and its records.
struct UpdateBox {
  std::int64_t low[3], high[3];              ///< where it is evaluated: its box without frozen points
  std::int64_t plain_low[3], plain_high[3];  ///< where no value is read outside the domain
  std::int32_t first, last;                  ///< records
};

/// What a value outside the domain is, and where elements are.
struct FieldPlace {
  std::int64_t strides[3];  ///< bytes
  std::int32_t mode[3][2];
  double value[3][2];
  std::int32_t dtype;
};

/// A field that a launch makes.
struct MadeField {
  std::int32_t field, first_box, last_box;
  std::int16_t target, source;  ///< arrays of its new level and of level 0
};

/// The most fields that a launch makes, since their new values wait in registers.
inline constexpr int kMostMade = 8;
/// The most arrays that a system's fields have.
inline constexpr int kMostArrays = TESSERA_MAX_FIELDS * (TESSERA_MAX_LEVELS + 1);

/// Which level of which field an array of a launch is.
struct ArrayOf {
  int field, level;
};

/// What a launch does: fields of a stage.
template <class T>
struct Program {
  std::vector<Record<T>> records;
  std::vector<RecordOffset> offsets;  ///< of each record
  std::vector<UpdateBox> boxes;
  std::vector<MadeField> made;
  std::vector<ArrayOf> arrays;
  bool same_type = true;  ///< all values are stored as T
  bool alike = true;      ///< the fields that are made have the strides that most have
  bool plain = true;      ///< and read as they are
};

/// Fields that each launch of a stage makes. Those that read what others overwrite are made together.
std::vector<std::vector<int>> launches_of(const plugin::SystemProblem& problem, int stage);

/// "" where every stage can be cut into launches of kMostMade fields.
std::string why_no_launches(const plugin::SystemProblem& problem);

/// Calls body(factor) for each value that an update reads.
template <class Body>
void for_each_factor(const plugin::SystemProblem::Update& update, Body&& body) {
  for (const auto& group : update.groups) {
    for (const auto& f : group.factors) body(f);
    for (const auto& term : group.terms)
      for (const auto& f : term.factors) body(f);
  }
}

/// Whether a value of the field beyond a side is another one, or a constant: a halo is an element like others.
inline bool asks_outside(const plugin::SystemProblem::Field& field, std::size_t axis, std::size_t side) {
  return field.mode[axis][side] != TESSERA_BOUNDARY_HALO;
}

/// Bytes of an element.
inline std::int64_t element_bytes(const plugin::SystemProblem::Field& field) {
  return std::int64_t(plugin::size_of(field.dtype));
}

std::vector<FieldPlace> places_of(const plugin::SystemProblem& problem);

}  // namespace tessera::cuda
