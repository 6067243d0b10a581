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
  double hopeless = 10.0;        ///< an execution longer than that many budgets may be left out
};

/// The samples of one row, taken one by one, so that those of others may come in between.
class Measurement {
 public:
  /// `execute(i)` runs the i-th execution, `first` is the time of a warm one. Finds how many executions make a sample,
  /// and how many samples the budget allows; an execution far beyond the budget is the only sample itself.
  Measurement(Device& device, std::function<void(std::int64_t)> execute, double first, const Budget& budget);

  bool wants_more() const { return std::int64_t(samples_.size()) < repetitions_; }
  /// Others have run since the last sample: where it is short, an execution that does not count comes first.
  void sample();
  Statistics statistics() const { return condense(samples_, batch_); }

 private:
  double time_of(std::int64_t batch);

  Device* device_;
  std::function<void(std::int64_t)> execute_;
  std::int64_t done_ = 0, batch_ = 1, repetitions_ = 1;
  std::vector<double> samples_;
};

}  // namespace tessera::perf
