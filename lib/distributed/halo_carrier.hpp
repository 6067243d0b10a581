// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What brings halos from rank to rank: copies between devices of one process, NCCL between devices, or the group's
/// transport through host memory.
#pragma once

#include "attempts.hpp"
#include "exchange.hpp"
#include "halo_copies.hpp"
#include "nccl.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

class HaloCarrier {
 public:
  /// Collective. `context` is that of the computing, whose device has a memory of its own unless `on_host`. `halos` are
  /// the largest that will travel. Throws where NCCL is wanted and cannot carry them.
  HaloCarrier(std::shared_ptr<Comm> comm, tessera_context* context, bool on_host, tessera_halo_transport wanted,
              const std::vector<Halos>& halos);

  /// Takes other halos, which NCCL can carry where it could the first ones.
  void take(const std::vector<Halos>& halos);
  std::size_t arrays() const { return halos_.size(); }
  bool empty() const;  ///< whether nothing travels to or from this rank
  /// Whether halos are queued on the devices' streams, and messages cannot say that their sender has failed.
  bool on_streams() const { return copies_ != nullptr || nccl_ != nullptr; }
  /// For halos: where the device has a memory of its own, one with a stream of its own that goes first.
  tessera_context* context() const { return copier_.get(); }
  const std::string& description() const { return text_; }

  /// Collective, where halos are queued: begins an execution whose halos are in these arrays, in one order on all
  /// ranks. False where they must go by the group's transport, since another rank's device cannot read them.
  bool open(const std::vector<void*>& arrays) { return copies_ == nullptr || copies_->begin(arrays); }
  /// Queues an exchange. `arrays` are those of the halos, in their order.
  void queue(const std::vector<void*>& arrays);
  /// What is queued from now on may write what was sent in the last exchange, or in the one before (1).
  void wait_for_readers(int exchanges_ago) {
    if (copies_ != nullptr) copies_->wait_for_readers(exchanges_ago);
  }
  /// Ends an execution: what is queued on its context from now on may write the arrays.
  void close() {
    if (copies_ != nullptr) copies_->end();
  }
  /// Tells the neighbours of a failure where they may wait for this rank's thread.
  void fail() {
    if (copies_ != nullptr) copies_->fail();
  }
  /// Queues a copy within the device's memory on the context's stream, where halos are queued.
  void copy(void* target, const void* source, std::size_t bytes);

  /// An exchange by the group's transport, which goes on where this rank has failed. What `context` has queued is done
  /// before.
  void begin(tessera_context* context, const std::vector<void*>& arrays, Attempts& attempts);
  void finish(const std::vector<void*>& arrays, Attempts& attempts);

 private:
  void join(tessera_context* context, tessera_halo_transport wanted);

  std::shared_ptr<Comm> comm_;
  ContextHandle copier_;
  bool on_host_;
  std::unique_ptr<HaloCopies> copies_;
  std::shared_ptr<Nccl> nccl_;
  void *device_ = nullptr, *stream_ = nullptr;  ///< the copier's, where halos are queued
  std::vector<Halos> halos_;
  std::unique_ptr<Exchange> exchange_;
  std::string text_;
};

}  // namespace tessera::distributed
