// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A plan: a validated problem, the plugin's plan and what an execution needs beside it. make_plan.hpp makes it.
#pragma once

#include "plan/backend_plan.hpp"
#include "plan/context.hpp"
#include "plan/options.hpp"
#include "plan/staging.hpp"
#include "plan/system_operands.hpp"
#include "problem/problem.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::core {

/// The plugin's plan with the algorithm that was chosen.
struct ChosenPlan {
  std::unique_ptr<BackendPlan> plan;
  const char* how;       ///< "estimated", "measured", "from wisdom", "forced", "forced, parameters estimated"
  bool by_time = false;  ///< wisdom or measuring chose
};

class Plan {
 public:
  /// Takes a workspace, the caller's or one of its own.
  Plan(Problem problem, const PlanOptions& options, ChosenPlan chosen, int verbose);
  /// Another plan of the same problem, context, algorithm and parameters, with a workspace of its own.
  Plan(const Plan& original);
  ~Plan();
  Plan& operator=(const Plan&) = delete;

  /// Throws invalid_argument where another execution of this plan has not returned.
  void execute(const tessera_execution& execution);

  const Problem& problem() const { return problem_; }
  Context& context() const { return plan_->context(); }
  tessera_memory operands() const { return operands_; }
  const std::string& backend_name() const { return context().name(); }
  const std::string& algorithm() const { return plan_->algorithm(); }
  const std::string& description() const { return description_; }
  std::uint64_t workspace_bytes() const { return plan_->workspace_bytes(); }
  /// What it takes of the host's and the device's memory, but for what the backend's own plan takes unasked.
  std::uint64_t bytes() const { return bytes_; }
  const Operand& operand_with(tessera_role role) const;
  /// Of a system: where an execution leaves a level of a state, as a role. Throws for other plans, fields and levels.
  tessera_role level_after(std::int32_t field, std::int32_t level) const;

 private:
  static constexpr std::size_t kMaxOperands = 6;

  void lay_out_operands();
  void take_workspace(const PlanOptions& options);
  void count_bytes();
  void describe();
  std::string told_of_prepared() const;
  void execute_system(const tessera_execution& execution);
  bool take_operands(const tessera_execution& execution, tessera_operand* operands) const;
  void check_counts(const tessera_execution& execution) const;
  void examine(const tessera_execution& execution, tessera_operand* operands) const;
  void examine_scalar(const tessera_execution& execution, std::size_t index) const;
  const tessera_operand* find(const tessera_execution& execution, tessera_role role) const;
  void examine_operand(const tessera_execution& execution, std::size_t index, const tessera_operand& given) const;
  bool in_place(const tessera_operand* operands) const;
  bool reads(const Operand& operand, const tessera_execution& execution) const;
  void check_overlap(const tessera_operand* operands);
  struct Apart;
  void require_apart(Apart& pair, std::int64_t distance, const char* name);
  void run(const tessera_execution& execution);
  void run_staged(const tessera_execution& execution);
  void run_and_tell(const tessera_execution& execution);

  Problem problem_;
  tessera_memory operands_;
  std::optional<Staging> staging_;
  std::unique_ptr<DeviceMemory> own_workspace_;
  std::unique_ptr<BackendPlan> plan_;  ///< goes while its workspace is there
  void* workspace_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t operand_count_;
  std::size_t output_;  ///< place of D or of a stencil's output: of products others may be written, too
  std::array<tessera_role, kMaxOperands> plugin_role_{};  ///< of the operands as the plugin takes them
  /// What a caller's array holds who gives the operands by their roles' numbers: where D is an operand, and where it is
  /// C. The plugin's order is the caller's but for A and B of a column-major product.
  struct Expected {
    std::array<std::uint8_t, kMaxOperands> place{};
    std::array<tessera_role, kMaxOperands> role{};
  };
  Expected separate_, in_place_;
  std::optional<SystemOperands> of_system_;
  std::vector<tessera_operand> staged_;                    ///< those of an execution on the device
  std::array<void*, kMaxOperands> prepared_{};             ///< what stands for an operand that was prepared
  std::array<std::uintptr_t, kMaxOperands> misaligned_{};  ///< bits that are not zero in a misaligned element's address
  bool output_empty_;
  bool same_layout_ = false;  ///< of C and D, so that they may be one matrix
  bool queued_ = false;
  std::atomic<bool> executing_{false};
  int verbose_;
  const char* chosen_;  ///< how the algorithm was
  std::string description_;
  /// Two operands that may share no element, the first of which is written. Distances in bytes from one to the other
  /// that were found free of shared elements: programs go round among few arrays. At first odd ones, which aligned
  /// arrays do not have.
  struct Apart {
    std::size_t written, other;
    std::array<std::int64_t, 8> distances;
    std::size_t next = 0;
    Apart(std::size_t a, std::size_t b) : written(a), other(b) { distances.fill(1); }
  };
  std::vector<Apart> apart_;
};

}  // namespace tessera::core
