// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Injections and recordings, and the copy of a level that a plan's own array holds at the end: what all algorithms of
/// systems share.
#pragma once

#include "../context.hpp"

#include <tessera/plugin/system_levels.hpp>
#include <tessera/plugin/system_problem.hpp>

#include <memory>
#include <vector>

namespace tessera::cuda {

/// Tables of a system's points in device memory.
class SystemPoints {
 public:
  SystemPoints(Context& context, const plugin::SystemProblem& problem);
  ~SystemPoints();

  /// What follows the updates of a stage, in a step of that number.
  void run(int stage, std::int64_t step, const plugin::Execution& execution, const plugin::SystemLevels& levels) const;
  /// Whether a stage has any.
  bool any(int stage) const;

 private:
  struct Table;
  Context& context_;
  std::vector<Table> injections_, recordings_;
};

/// Brings levels in the workspace to the operands that are free for them.
void bring_levels_back(Context& context, const plugin::SystemProblem& problem, const plugin::SystemLevels& levels);
/// Loads the kernel of it, when a plan is made.
void prepare_levels(Context& context);

}  // namespace tessera::cuda
