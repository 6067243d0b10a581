// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// An interpreter of systems of fields: what a description means, point by point, in long double. Knows nothing of the
/// library but its C structs.
#pragma once

#include <tessera/system.h>

#include <cstdint>
#include <vector>

namespace tessera::test {

using Values = std::vector<long double>;

/// The fields of a system: for each its levels, the newest first (of what is only read one), each packed in C order.
using SystemValues = std::vector<std::vector<Values>>;

/// Series that go in or come out: for each list of points, for each step, a value for each of its series.
using SeriesValues = std::vector<std::vector<Values>>;

/// How far values that are computed in a system's types may be from those of the interpreter.
struct SystemErrors {
  SystemValues fields;
  SeriesValues recorded;
};

/// Steps the fields and rounds nothing but what long double does. `injected` begins with the first step; `recorded` is
/// set, and `errors`, where not null: bounds that hold for sums in any order.
void interpret(const tessera_system_desc& system, SystemValues& fields, const SeriesValues& injected,
               SeriesValues& recorded, SystemErrors* errors = nullptr);

}  // namespace tessera::test
