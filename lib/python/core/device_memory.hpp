// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Results on a device for frameworks whose arrays never change: memory of our own that they take over by DLPack.
#pragma once

#include "contexts.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tessera::python {

/// Memory of a device with a shape, which any consumer of DLPack may take.
class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<Context> context, std::span<const std::int64_t> shape, DType dtype, int device);

  void* data() const { return buffer_->data(); }
  /// For a consumer that takes it when the work that fills it is done.
  nb::capsule capsule() const;
  nb::tuple device() const { return nb::make_tuple(int(dlpack::kCuda), device_); }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<Buffer<double>> buffer_;
  std::vector<std::int64_t> shape_;
  DType dtype_;
  int device_;
};

void define_device_memory(nb::module_& module);

}  // namespace tessera::python
