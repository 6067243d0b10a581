// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a caller asks of a plan, beside the problem.
#pragma once

#include "dispatch/environment.hpp"

#include <tessera/plugin/abi.h>
#include <tessera/tessera.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::core {

class Context;
class ContextSource;
class Prepared;
struct Problem;

/// A way to run a problem that was timed.
struct Tried {
  std::string backend;  ///< its full name
  int device;
  std::string algorithm;
  double predicted_seconds, seconds;  ///< of an execution on operands in the device's memory
  double whole_seconds = 0.0;         ///< on operands in the host's, where backends were compared; else 0
  bool estimated = false;             ///< a plan by the model takes it
  bool chosen = false;                ///< a plan takes it now
};

struct PlanOptions {
  tessera_memory operands = TESSERA_MEMORY_HOST;
  tessera_effort effort = TESSERA_EFFORT_DEFAULT;
  std::string algorithm;
  std::uint64_t workspace_limit = 0;
  void* workspace = nullptr;
  std::uint64_t workspace_bytes = 0;
  int sm_limit = 0;
  ContextSource* contexts = nullptr;  ///< null: a plan without a context makes one
  /// Where not null, the plan measures whatever wisdom says and with more patience, fails where it cannot, and adds
  /// what it tried.
  std::vector<Tried>* tuning = nullptr;
  int sharing = 1;                                ///< backends that share the time which measuring may take
  bool part = false;                              ///< of another plan, which is made; nothing is said of it
  std::shared_ptr<const Prepared> prepared = {};  ///< in the place of B
};

/// The algorithm that code or environment force, if any.
AlgorithmSpec forced_algorithm(const PlanOptions& options, tessera_op op);

/// What code or environment say, if they do.
tessera_effort effort(const PlanOptions& options);

/// What a plan may take: of memory in bytes, and multiprocessors of a device that has some; 0: all.
struct PlanLimits {
  std::uint64_t workspace;
  int multiprocessors;

  bool operator==(const PlanLimits&) const = default;
};

/// What code or environment say. Sizes beyond those that memory can have, UINT64_MAX say, mean "as much as it likes".
PlanLimits limits(const PlanOptions& options);

/// The same for a problem. Where nothing is said, a product of two types may take room for a copy of the narrower
/// operand besides.
PlanLimits limits(const PlanOptions& options, const Problem& problem);

/// The same in a context. Where nothing is said, a product that permits other arithmetic than strict may take a quarter
/// of a device's memory, for the parts of its operands.
PlanLimits limits(const PlanOptions& options, const Problem& problem, const Context& context);

}  // namespace tessera::core
