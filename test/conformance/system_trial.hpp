// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A system with data, and what the interpreter makes of it.
#pragma once

#include "system_cases.hpp"
#include "system_reference.hpp"

#include <tessera/tessera.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

/// An array of a field or a series between guarded pages, and its copy on a device.
class TrialArray;

class SystemTrial {
 public:
  explicit SystemTrial(const SystemCase& c);
  ~SystemTrial();

  const StencilSystem& system() const { return case_.system; }
  std::int64_t steps() const { return case_.steps; }

  /// Executes twice from the same values. Returns "" or what is wrong. Ends the program where memory beside an operand
  /// was written.
  std::string run(Context& context, SystemPlan& plan, Memory memory);
  /// Executes plans of one step, from level to level, and a plan of all steps: the same bits. "" or what is wrong.
  std::string run_step_by_step(SystemPlan& all, SystemPlan& one);

 private:
  struct Field {
    SystemField field;
    std::string name;
    bool state;
    std::vector<std::unique_ptr<TrialArray>> levels;
  };

  void fill();
  void reset();
  void execute(SystemPlan& plan, std::int64_t first_step, const std::vector<std::vector<int>>& places);
  std::string judge(const SystemPlan& plan) const;
  std::string check_unchanged() const;
  /// For each field its arrays in the order of levels, at first.
  std::vector<std::vector<int>> first_places() const;

  SystemCase case_;
  StencilSystem::Description description_;
  std::vector<Field> fields_;
  std::vector<std::unique_ptr<TrialArray>> injected_, recorded_;
  SystemValues expected_;
  SeriesValues expected_recorded_;
  SystemErrors errors_;
};

}  // namespace tessera::test
