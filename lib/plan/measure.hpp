// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The fastest way to run a problem, by running it.
#pragma once

#include "plan/context.hpp"
#include "problem/problem.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::core {

/// A way to run a problem that its backend offers.
struct Way {
  std::string algorithm;  ///< with all parameters
  double seconds;         ///< predicted
  std::uint64_t workspace_bytes;
};

struct Measured {
  std::string algorithm;
  double seconds, estimated_seconds;  ///< of an execution: of this one, of the one of the least predicted time
  int timed;                          ///< ways that were

  /// "multistage:tile=32, 12.3 us, the fastest of 7, 1.05 times the estimate".
  std::string text() const;
};

/// Times the ways, the cheapest first, on operands of its own: less than 50 ms for problems that take below 1 ms, below
/// 30 executions for others. The winner's result is compared with that of the first. One measurement runs at a time.
/// `problem` is as the plugin sees it. Throws out_of_memory where there is none for the operands, and invalid_argument
/// where the context's stream is being captured.
Measured measure(const std::shared_ptr<Context>& context, const Problem& problem, std::uint64_t workspace_limit,
                 const std::vector<Way>& ways);

}  // namespace tessera::core
