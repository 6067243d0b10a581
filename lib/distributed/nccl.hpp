// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Messages between the memories of devices by NCCL, which is loaded where it is there.
#pragma once

#include "comm.hpp"
#include "handles.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

class Nccl {
 public:
  /// Collective: all ranks get one for the devices of their contexts, or none does and `why_not` says why. The group
  /// keeps it, since joining takes a large part of a second.
  static std::shared_ptr<Nccl> join(Comm& comm, tessera_context* context, std::string& why_not);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// A piece of the device's memory, to or from a rank. Those of two ranks meet in the order of the lists.
  struct Part {
    void* data;
    std::size_t bytes;
    int peer;
  };
  /// Queues all of them together on a stream of the device.
  void exchange(void* stream, const std::vector<Part>& sent, const std::vector<Part>& received);

 private:
  explicit Nccl(void* device) : device_(device) {}
  static std::string shared_device(Comm& comm, void* device);
  static std::shared_ptr<Nccl> start(Comm& comm, void* device, std::string& why_not);

  void* device_;  ///< its context in CUDA's driver
  void* handle_ = nullptr;
};

}  // namespace tessera::distributed
