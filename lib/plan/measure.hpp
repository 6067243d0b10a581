// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The fastest way to run a problem, by running it.
#pragma once

#include "plan/backend_plan.hpp"
#include "plan/context.hpp"
#include "problem/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tessera::core {

/// What measuring may take: time where an execution takes below a millisecond, else executions, where these are more
/// than the time allows.
struct Patience {
  double seconds;
  int executions;
  double long_seconds;  ///< of long problems, where that allows more executions
  int most_executions;  ///< that it allows
  int rounds;           ///< in which those near the fastest take turns

  /// Its share where so many backends are measured, each of which warms up, is verified, and is compared at last.
  Patience shared_by(int backends) const {
    constexpr int kBeside = 5, kLeast = 2;
    const int share = backends == 1 ? executions : std::max(executions / backends - kBeside, kLeast);
    return {seconds / backends, share, long_seconds, most_executions, rounds};
  }
};
/// With warming up and what runs over, below 50 ms or 30 executions.
inline constexpr Patience kPatienceOfPlans{27e-3, 24, 0.0, 24, 24};
inline constexpr Patience kPatienceOfTuning{0.4, 24, 10.0, 150, 64};

/// A way that was run.
struct TimedWay {
  std::string algorithm;
  double predicted_seconds, seconds;
};

struct Measured {
  std::unique_ptr<BackendPlan> plan;
  double seconds, estimated_seconds;  ///< of an execution: of this one, of the one of the least predicted time
  std::vector<TimedWay> timed;        ///< the one of the least predicted time first

  /// "multistage:tile=32, 12.3 us, the fastest of 7, 1.05 times as fast as the estimate".
  std::string text() const;
};

/// Held by whoever measures, so that nobody is disturbed by another thread of the process that does so.
std::recursive_mutex& measuring();

/// Times the ways, the cheapest first, on operands of its own. The winner's result is compared with that of the first.
/// `problem` is as the plugin sees it. Throws out_of_memory where there is none for the
/// operands, and invalid_argument where the context's stream is being captured.
Measured measure(const std::shared_ptr<Context>& context, const Problem& problem, const PlanLimits& limits,
                 const std::vector<Way>& ways, const Patience& patience);

}  // namespace tessera::core
