// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a plugin is asked of a problem: the ways in which it would run it, and a plan.
#pragma once

#include "plan/context.hpp"
#include "plan/options.hpp"
#include "problem/problem.hpp"

#include <tessera/descriptors.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::core {

/// Whether operands are in the host's memory and the context's backend computes in another one.
inline bool is_staged(const Context& context, tessera_memory operands) {
  return operands == TESSERA_MEMORY_HOST && !context.on_host();
}

/// A problem as the plugin sees it: staged operands are brought to a device without gaps. `problem` outlives it.
class SeenProblem {
 public:
  SeenProblem(const Problem& problem, const Context& context, tessera_memory operands) : given_(problem) {
    if (is_staged(context, operands)) packed_ = problem.packed();
  }
  const Problem& get() const { return packed_ ? *packed_ : given_; }

 private:
  const Problem& given_;
  std::optional<Problem> packed_;
};

/// A plugin's plan; its context is there as long.
class BackendPlan {
 public:
  /// `problem` is as the plugin sees it. Throws what the plugin reports.
  BackendPlan(std::shared_ptr<Context> context, const Problem& problem, const PlanLimits& limits,
              const AlgorithmSpec& algorithm);

  void execute(const tessera_execution& execution) {
    context_->call(context_->table().plan_execute, handle_.get(), &execution);
  }

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  /// With all parameters.
  const std::string& algorithm() const { return algorithm_; }
  const PlanLimits& limits() const { return limits_; }
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  struct Destroy {
    Context* context;
    void operator()(tessera_backend_plan* plan) const { context->table().plan_destroy(plan); }
  };

  std::shared_ptr<Context> context_;
  std::unique_ptr<tessera_backend_plan, Destroy> handle_;
  std::string algorithm_;
  PlanLimits limits_;
  std::uint64_t workspace_bytes_ = 0;
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
std::vector<Way> ways_to_run(Context& context, const Problem& problem, tessera_memory operands,
                             const PlanLimits& limits, const AlgorithmSpec& algorithm);

/// How a backend lays out an operand.
struct PreparedForm {
  std::string text;
  std::uint64_t bytes;
};

/// For the operand at `place` of a problem as the plugin sees it. Throws unsupported where the backend prepares none.
PreparedForm best_form(Context& context, const Problem& problem, std::size_t place, tessera_memory operands,
                       const PlanLimits& limits, const AlgorithmSpec& algorithm);
/// Writes it from `source`, both in the memory of the context's device. Queues the work.
void write_form(Context& context, const Problem& problem, std::size_t place, const std::string& form,
                const void* source, void* target);

}  // namespace tessera::core
