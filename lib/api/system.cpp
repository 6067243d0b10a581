// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C function of tessera/tessera.h that tells of a system without a plan.

#include <tessera/tessera.h>

#include "api/arguments.hpp"
#include "problem/system.hpp"

#include <string>

using namespace tessera;
using api::existing;

tessera_status tessera_system_next_level(const tessera_system_desc* desc, int32_t field, tessera_next_level* next,
                                         tessera_error* error) {
  return api::guard(error, [&] {
    existing(next, "next");
    const core::System system = core::validate_system(desc);
    const auto count = std::int32_t(system.fields.size());
    if (field < 0 || field >= count || system.fields[std::size_t(field)].kind != TESSERA_FIELD_STATE)
      core::invalid("field", field, "must be a state, and lie in [0, " + std::to_string(count) + ")");
    *next = system.fields[std::size_t(field)].next;
  });
}
