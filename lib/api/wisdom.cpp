// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C functions for wisdom.

#include "wisdom/wisdom.hpp"

#include "api/arguments.hpp"
#include "plan/plan_cache.hpp"
#include "wisdom/wisdom_file.hpp"

#include <tessera/tessera.h>

using namespace tessera;
using api::existing;
using api::guard;

tessera_status tessera_wisdom_load(const char* path, tessera_error* error) {
  return guard(error, [&] { core::Wisdom::instance().load(&existing(path, "path")); });
}

tessera_status tessera_wisdom_save(const char* path, tessera_error* error) {
  return guard(error, [&] { core::Wisdom::instance().save(&existing(path, "path")); });
}

tessera_status tessera_wisdom_visit(const char* path, tessera_wisdom_visitor visit, void* data, tessera_error* error) {
  return guard(error, [&] {
    if (visit == nullptr) core::invalid("visit", "null", "must be a function");
    const core::WisdomFile file = core::read_wisdom_file(&existing(path, "path"));
    for (const core::WisdomEntry& e : file.entries) {
      const tessera_wisdom_entry entry{
          sizeof entry, e.problem.c_str(), e.machine.c_str(), e.algorithm.c_str(), e.seconds, e.estimated_seconds,
          nullptr};
      visit(data, &entry);
    }
    for (const std::string& line : file.others) {
      const tessera_wisdom_entry entry{sizeof entry, nullptr, nullptr, nullptr, 0.0, 0.0, line.c_str()};
      visit(data, &entry);
    }
  });
}

tessera_status tessera_wisdom_forget(tessera_error* error) {
  return guard(error, [&] {
    core::Wisdom::instance().forget();
    core::PlanCache::instance().clear();
  });
}
