// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Halos between devices of one process that reach each other's memory: each rank copies what it needs out of its
/// neighbours' arrays. Copy engines do it, and leave the multiprocessors to the inner points.
#pragma once

#include "comm.hpp"
#include "driver.hpp"
#include "exchange.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

/// Ranks meet by events of their streams. Before a rank can wait for another one's event of a round the other one's
/// thread must have recorded it: counters tell how many rounds are.
class HaloCopies {
 public:
  /// Collective: all ranks get one, or none does and `why_not` says why. The contexts outlive it.
  static std::unique_ptr<HaloCopies> join(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                          tessera_context* copier, std::string& why_not);

  /// Collective: begins an execution whose halos are in these arrays, in one order on all ranks. False where some
  /// rank's cannot be read by others.
  bool begin(const std::vector<void*>& arrays);
  /// Queues a round's halos on the copier, which has made what others read.
  void queue(const std::vector<Halos>& halos, const std::vector<void*>& arrays);
  /// What is queued on the context and on the copier from now on waits until nobody reads what this rank showed
  /// `rounds_ago` (0: in the last round that was queued).
  void wait_for_readers(int rounds_ago);
  /// The same for all that was queued, on the context.
  void end() { hold_readers(round_, stream_); }
  /// Tells those that wait for this rank that it has failed.
  void fail() { marks_[std::size_t(comm_->rank())]->failed = true; }

 private:
  static constexpr int kRounds = 4;  ///< that events are kept; no rank is two ahead of its neighbour
  struct Marks {
    std::vector<std::unique_ptr<DeviceEvent>> ready, read;  ///< of a round: arrays can be read; have read others'
    std::atomic<std::int64_t> ready_rounds{0}, read_rounds{0};
    std::atomic<bool> failed{false};
    explicit Marks(void* device);
  };

  HaloCopies(std::shared_ptr<Comm> comm, tessera_context* context, tessera_context* copier);
  void wait_until(const std::atomic<std::int64_t>& count, std::int64_t rounds, int rank) const;
  void copy(const Halos& halos, void* array);
  void hold_readers(std::int64_t rounds, void* stream);

  std::shared_ptr<Comm> comm_;
  void *device_, *stream_, *copies_;
  std::vector<std::shared_ptr<Marks>> marks_;  ///< of all ranks
  std::vector<void*> arrays_;                  ///< of all ranks, each as many as this one has
  std::size_t array_count_ = 0;
  std::vector<int> readers_;
  std::int64_t round_ = 0, first_ = 0;  ///< that were queued ever, and before this execution
};

}  // namespace tessera::distributed
