// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What moves between devices by NCCL alone, and the plain Jacobi over it. Implemented in nccl.cu, in a module that is
/// loaded at run time.
#pragma once

#include "group.hpp"
#include "problem.hpp"

#include <functional>

namespace tessera::perf {

class DevicePeers {
 public:
  virtual ~DevicePeers() = default;
  virtual std::string version() const = 0;
  /// Queues a message to the peer and one from it.
  virtual void exchange(const void* sent, void* received, std::size_t bytes, int peer) = 0;
  /// Steps of a star of radius 1 whose domain is cut along its first axis: this rank's block begins behind a halo in
  /// the three arrays, and a halo is behind it. `alone`: the block is the domain.
  virtual std::function<void()> jacobi(const StencilShape& block, bool alone, void* in, void* out, void* scratch) = 0;
};

extern "C" {
/// What the module exports. Collective. Throws where NCCL is not there.
using MakeDevicePeers = DevicePeers*(Group* group, void* stream, int device);
}

}  // namespace tessera::perf
