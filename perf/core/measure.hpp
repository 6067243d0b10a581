// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Time of one execution: batched until the clock can see it, repeated, and condensed.
#pragma once

#include "device.hpp"

namespace tessera::perf {

struct Statistics {
  double median = 0.0, min = 0.0, max = 0.0, spread = 0.0;  ///< seconds of one execution; coefficient of variation
  std::int64_t repetitions = 0;                             ///< samples
  std::int64_t batch = 1;                                   ///< executions in a sample
};

Statistics condense(std::vector<double> samples, std::int64_t batch);

struct Budget {
  double seconds = 0.4;          ///< of measuring, for one row
  double sample = 1e-3;          ///< shortest time that is trusted
  std::int64_t repetitions = 0;  ///< asked for; 0: what the budget allows, 3 to 30
  double hopeless = 10.0;        ///< an execution longer than that many budgets is left out
};

/// `execute(i)` runs the i-th execution, `first` is the time of a warm one.
Statistics measure(Device& device, const std::function<void(std::int64_t)>& execute, double first,
                   const Budget& budget);

}  // namespace tessera::perf
