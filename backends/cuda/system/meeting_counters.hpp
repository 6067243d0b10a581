// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The counters of the meetings of a plan's launches, which run one after the other.
#pragma once

#include "../context.hpp"
#include "meetings.hpp"

#include <tessera/plugin/math.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::cuda {

class MeetingCounters {
 public:
  MeetingCounters() = default;
  /// Of launches of up to so many blocks, one on a multiprocessor, each of up to so many iterations.
  MeetingCounters(Context& context, std::int64_t blocks, int iterations) {
    constexpr int kLong = 56;  // in shorter marches blocks stay beside each other by themselves
    const int multiprocessors = context.machine().multiprocessors;
    if (iterations < kLong || blocks < 2) return;
    meetings_ = {nullptr, iterations / kMeetingIterations + 1, multiprocessors};
    const std::int64_t rounds = plugin::ceil_div<std::int64_t>(blocks, multiprocessors);
    const std::vector<int> zeros(std::size_t(1 + rounds * meetings_.count), 0);
    table_ = std::make_unique<DeviceTable>(context, zeros.data(), zeros.size() * sizeof(int));
    meetings_.counters = table_->as<int>();
  }

  const Meetings& meetings() const { return meetings_; }

 private:
  Meetings meetings_{};
  std::unique_ptr<DeviceTable> table_;
};

}  // namespace tessera::cuda
