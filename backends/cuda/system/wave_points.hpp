// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Injections and recordings of a pass that makes several steps: lists for each tile and plane, and the sums of what
/// was recorded.
#pragma once

#include "../context.hpp"
#include "temporal.hpp"

#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/system_problem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::cuda {

/// Entries of all recordings of a system: values that a step leaves for the sums.
std::int64_t recorded_in_step(const plugin::SystemProblem& problem);

class WavePoints {
 public:
  WavePoints(Context& context, const plugin::SystemProblem& problem, const WaveLayout& layout);
  ~WavePoints();

  /// Fills in the lists and the series of a pass that begins with a step of that number.
  template <class T>
  void tell(WavePass<T>& pass, const plugin::Execution& execution, std::int64_t step) const {
    if (points_ == nullptr) return;
    pass.points = points_->as<const WavePoint>();
    pass.first = first_->as<const int>();
    pass.recordings = recorded_;
    for (std::size_t set = 0; set < injections_.size(); ++set) {
      const Series& series = injections_[set];
      pass.series[set] = {execution.operand<T>(series.operand) + step * series.count, series.count};
    }
  }
  /// Queues the sums of what a pass of so many steps has recorded.
  void sum(const void* recorded, int steps, const plugin::Execution& execution, std::int64_t first_step) const;

 private:
  struct Series {
    int operand;
    std::int64_t count;
  };
  struct Sums;
  Context& context_;
  tessera_dtype dtype_;
  std::vector<Series> injections_;
  std::vector<Sums> recordings_;
  std::int64_t recorded_;
  std::unique_ptr<DeviceTable> points_, first_;
};

}  // namespace tessera::cuda
