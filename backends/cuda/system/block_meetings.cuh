// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A block's part in meetings.hpp.
#pragma once

#include "meetings.hpp"

#include <cuda_runtime.h>

namespace tessera::cuda {

/// A block's meetings. One of its threads makes it and calls.
class BlockMeetings {
 public:
  __device__ BlockMeetings(const Meetings& meetings, int block, int blocks)
      : left_(meetings.counters), count_(meetings.count), blocks_(blocks), rounds_(1) {
    if (left_ == nullptr) return;
    const int round = block / meetings.round_size;
    rounds_ = (blocks + meetings.round_size - 1) / meetings.round_size;
    counters_ = left_ + 1 + round * count_;
    expected_ = min(meetings.round_size, blocks - round * meetings.round_size);
  }

  /// Before a block's first iteration: those before are as if they were over.
  __device__ void begin(int iteration) const {
    if (left_ == nullptr) return;
    for (int m = 0; m * kMeetingIterations < iteration; ++m) reach(m);
  }
  /// Waits until the round's blocks have come to the meeting before this one.
  __device__ __forceinline__ void meet(int iteration) {
    if (left_ == nullptr || iteration % kMeetingIterations != 0) return;
    const int meeting = iteration / kMeetingIterations;
    reach(meeting);
    if (meeting == 0) return;
    constexpr int kTries = 64;  // some 50 microseconds
#pragma unroll 1
    for (int tries = 0; tries < kTries; ++tries) {
      int there;
      asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(there) : "l"(counters_ + meeting - 1) : "memory");
      if (there >= expected_) return;
    }
    expected_ = 0;  // others are not there: something else runs on the device
  }
  /// Behind a block's last iteration: it is at all meetings that follow. The last block to leave clears the counters.
  __device__ void end(int iteration) const {
    if (left_ == nullptr) return;
    for (int m = iteration / kMeetingIterations + 1; m < count_; ++m) reach(m);
    __threadfence();
    if (atomicAdd(left_, 1) + 1 < blocks_) return;
    __threadfence();
    for (int i = 0; i <= rounds_ * count_; ++i) left_[i] = 0;
  }

 private:
  __device__ __forceinline__ void reach(int meeting) const {
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(counters_ + meeting) : "memory");
  }

  int *left_, *counters_ = nullptr;
  int count_, blocks_, rounds_, expected_ = 0;
};

}  // namespace tessera::cuda
