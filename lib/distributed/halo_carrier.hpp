// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What brings halos from rank to rank: NCCL between devices, or the group's transport through host memory.
#pragma once

#include "attempts.hpp"
#include "exchange.hpp"
#include "nccl.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

class HaloCarrier {
 public:
  /// Collective. `context` is that of the computing, whose device has a memory of its own unless `on_host`. `halos` are
  /// the largest that will travel. Throws where NCCL is wanted and cannot carry them.
  HaloCarrier(std::shared_ptr<Comm> comm, const tessera_context* context, bool on_host, tessera_halo_transport wanted,
              const std::vector<Halos>& halos);

  /// Takes other halos, which NCCL can carry where it could the first ones.
  void take(const std::vector<Halos>& halos);
  std::size_t arrays() const { return halos_.size(); }
  bool empty() const;  ///< whether nothing travels to or from this rank
  bool by_nccl() const { return nccl_ != nullptr; }
  /// For halos: where the device has a memory of its own, one with a stream of its own that goes first.
  tessera_context* context() const { return copier_.get(); }
  const std::string& description() const { return text_; }

  /// Queues an exchange by NCCL. `arrays` are those of the halos, in their order.
  void queue(const std::vector<void*>& arrays);
  /// Queues a copy within the device's memory on the context's stream, where NCCL carries.
  void copy(void* target, const void* source, std::size_t bytes) { nccl_->copy(stream_, target, source, bytes); }

  /// An exchange by the group's transport, which goes on where this rank has failed. What `context` has queued is done
  /// before.
  void begin(tessera_context* context, const std::vector<void*>& arrays, Attempts& attempts);
  void finish(const std::vector<void*>& arrays, Attempts& attempts);

 private:
  void join(tessera_halo_transport wanted);

  std::shared_ptr<Comm> comm_;
  ContextHandle copier_;
  bool on_host_;
  std::shared_ptr<Nccl> nccl_;
  void* stream_ = nullptr;  ///< the copier's, for NCCL
  std::vector<Halos> halos_;
  std::unique_ptr<Exchange> exchange_;
  std::string text_;
};

}  // namespace tessera::distributed
