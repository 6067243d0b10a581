// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The course of an execution of a system, whoever makes the points: each stage, then its injections and recordings.
#pragma once

#include "../context.hpp"
#include "points.hpp"

#include <tessera/plugin/plugin.hpp>
#include <tessera/plugin/system_levels.hpp>

#include <cstdint>

namespace tessera::cuda {

class SystemStepsPlan : public plugin::Plan {
 public:
  SystemStepsPlan(Context& context, const plugin::SystemProblem& problem)
      : context_(context), problem_(problem), levels_(problem_), points_(context, problem_) {
    prepare_levels(context);
  }

  std::uint64_t workspace_bytes() const override { return levels_.workspace_bytes(); }

  void execute(const plugin::Execution& execution) override {
    const DeviceGuard guard(context_.device());
    levels_.take(execution);
    for (std::int64_t step = 0; step < problem_.steps; ++step)
      for (const int stage : problem_.stages) {
        make(stage, step);
        points_.run(stage, step, execution, levels_);
      }
    bring_levels_back(context_, problem_, levels_);
  }

 protected:
  /// Queues the updates of a stage, of which there may be none, in a step of that number. The device is current.
  virtual void make(int stage, std::int64_t step) = 0;

  Context& context() const { return context_; }
  const plugin::SystemProblem& problem() const { return problem_; }
  const plugin::SystemLevels& levels() const { return levels_; }

 private:
  Context& context_;
  plugin::SystemProblem problem_;
  plugin::SystemLevels levels_;
  SystemPoints points_;
};

}  // namespace tessera::cuda
