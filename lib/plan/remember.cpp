// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/remember.hpp"

#include "check.hpp"
#include "dispatch/environment.hpp"
#include "plan/verbose.hpp"
#include "wisdom/wisdom_file.hpp"

namespace tessera::core {

std::optional<WisdomEntry> recall(const std::string& problem, const std::string& machine, bool verbose) {
  const Wisdom::Found found = Wisdom::instance().find(problem, machine, environment_wisdom());
  if (!found.remark.empty() && verbose) print_verbose(found.remark);
  return found.entry;
}

void remember(const WisdomEntry& entry, bool in_file, bool verbose) {
  Wisdom::instance().add(entry);
  const std::string file = environment_wisdom();
  if (file.empty() || !in_file) return;
  try {
    merge_into_wisdom_file(file, {&entry, 1});
  } catch (const Error& error) {  // the plan is as good without
    if (verbose) print_verbose(std::string("wisdom is not kept: ") + error.what());
  }
}

}  // namespace tessera::core
