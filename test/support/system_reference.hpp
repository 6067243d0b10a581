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

/// Steps the fields. `injected` begins with the first step; `recorded` is set. Rounds nothing but what fields store:
/// `round`, where not null, rounds a value to the type of a field.
void interpret(const tessera_system_desc& system, SystemValues& fields, const SeriesValues& injected,
               SeriesValues& recorded, long double (*round)(tessera_dtype dtype, long double value) = nullptr);

}  // namespace tessera::test
