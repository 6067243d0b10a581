// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Validation of a system of fields, and what its updates may overwrite.
#pragma once

#include "problem/layout.hpp"

#include <tessera/system.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::core {

/// A validated system. Indices of fields, stages and points are in range, boxes are not empty, numbers are finite.
struct System {
  using Place = std::array<std::int64_t, TESSERA_MAX_RANK>;

  struct Field {
    std::string name;
    tessera_field_kind kind;
    tessera_dtype dtype;
    int levels = 1, axis = 0;
    tessera_next_level next = TESSERA_NEXT_DEFAULT;  ///< of a validated state: in place, or apart
    int stage = -1;                                  ///< of its updates; -1: it has none
    Layout layout;                                   ///< of one level; of a profile one axis
    std::array<std::array<tessera_boundary, 2>, TESSERA_MAX_RANK> boundary;
    std::array<std::array<double, 2>, TESSERA_MAX_RANK> boundary_value;
    /// The level that a step leaves behind, as a factor names it.
    int oldest() const { return 1 - levels; }
  };
  struct Group {
    std::vector<tessera_factor> factors;
    std::vector<tessera_term> terms;
  };
  struct Update {
    int field, stage;
    Place low, high;
    std::vector<Group> groups;
  };
  struct Points {
    int field, stage;
    std::vector<Place> places;
    std::vector<double> weights;
    std::vector<std::int64_t> series;
    std::int64_t series_count;
  };

  tessera_dtype dtype = 0;
  int rank = 0;
  Place extents{};
  std::int64_t steps = 0;
  Place low{}, high{};  ///< the points that a step makes
  std::vector<Field> fields;
  std::vector<Update> updates;  ///< by stages
  std::vector<Points> injections, recordings;
  std::string text;  ///< in a few words, for describe()

  bool makes_all() const { return low == Place{} && high == extents; }
};

/// Throws plugin::Error (invalid_argument, unsupported) that names what is wrong, where, and the bound.
System validate_system(const tessera_system_desc* desc);

/// Why the next level of a state cannot take the place of its oldest one, with the term that is at fault; "" where it
/// can. It can where that level is read by updates of earlier stages, and by those of the same stage, which read before
/// they store, at the point itself alone.
std::string why_not_in_place(const System& system, int state);

}  // namespace tessera::core
