// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the updates of a system may overwrite.

#include "problem/system.hpp"

#include <algorithm>
#include <string>

namespace tessera::core {

std::string why_not_in_place(const System& system, int state) {
  const System::Field& field = system.fields[std::size_t(state)];
  const auto fault = [&](const System::Update& update, const tessera_factor& f) -> std::string {
    if (f.field != state || f.level != field.oldest() || update.stage < field.stage) return {};
    const std::string reader = "the update of '" + system.fields[std::size_t(update.field)].name + "' in stage " +
                               std::to_string(update.stage) + " reads level " + std::to_string(f.level) + " of '" +
                               field.name + "'";
    if (std::any_of(f.offset, f.offset + TESSERA_MAX_RANK, [](auto x) { return x != 0; }))
      return reader + " at neighbours, which are overwritten in the same step";
    return update.stage > field.stage ? reader + ", which stage " + std::to_string(field.stage) + " has overwritten"
                                      : "";
  };
  for (const System::Update& update : system.updates)
    for (const System::Group& group : update.groups) {
      for (const tessera_factor& f : group.factors)
        if (std::string why = fault(update, f); !why.empty()) return why;
      for (const tessera_term& term : group.terms)
        for (std::int64_t i = 0; i < term.factor_count; ++i)
          if (std::string why = fault(update, term.factors[i]); !why.empty()) return why;
    }
  return {};
}

}  // namespace tessera::core
