// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a plugin is asked of a problem: the ways in which it would run it, and a plan.
#pragma once

#include "plan/context.hpp"
#include "plan/options.hpp"
#include "problem/problem.hpp"

#include <tessera/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::core {

/// The problem as the plugin sees it: host operands are brought to a device without gaps.
Problem seen_by_plugin(const Problem& problem, const Context& context, tessera_memory operands);

/// A plugin's plan; its context is there as long.
class BackendPlan {
 public:
  /// `problem` is as the plugin sees it. Throws what the plugin reports.
  BackendPlan(std::shared_ptr<Context> context, const Problem& problem, std::uint64_t workspace_limit,
              const AlgorithmSpec& algorithm);

  void execute(const tessera_execution& execution) {
    context_->call(context_->table().plan_execute, handle_.get(), &execution);
  }

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  /// With all parameters.
  const std::string& algorithm() const { return algorithm_; }
  std::uint64_t workspace_limit() const { return workspace_limit_; }
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  struct Destroy {
    Context* context;
    void operator()(tessera_backend_plan* plan) const { context->table().plan_destroy(plan); }
  };

  std::shared_ptr<Context> context_;
  std::unique_ptr<tessera_backend_plan, Destroy> handle_;
  std::string algorithm_;
  std::uint64_t workspace_limit_, workspace_bytes_ = 0;
};

/// Shows the ways in which a context's backend would run a problem to `visit`, the cheapest first. Throws what making a
/// plan would throw.
void visit_offers(Context& context, const tessera_desc* desc, const PlanOptions& options, tessera_offer_visitor visit,
                  void* data);

/// A way to run a problem that its backend offers.
struct Way {
  std::string algorithm;  ///< with all parameters
  double seconds;         ///< predicted
  std::uint64_t workspace_bytes;
};

/// All of them for a problem as the plugin sees it; there is one at least.
std::vector<Way> ways_to_run(Context& context, const Problem& problem, tessera_memory operands, std::uint64_t limit,
                             const AlgorithmSpec& algorithm);

}  // namespace tessera::core
