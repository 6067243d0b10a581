// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the backend knows of the machine's devices, and the guard that keeps the caller's choice.
#pragma once

#include "machine.hpp"

#include <cuda_runtime_api.h>

#include <new>
#include <string>

namespace tessera::cuda {

/// Makes a device current and restores the caller's on the way out; one thread-local read when it is
/// the right one already.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  /// For tear-down, which goes on whatever fails: freeing needs no current device.
  DeviceGuard(int device, std::nothrow_t) noexcept;
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

/// Number of devices; throws BACKEND_UNAVAILABLE with the reason where there is none or no driver.
int count_devices();

/// The device as the models see it. Read once, without making a context on it.
const Machine& machine(int device);

/// The device's room for clusters, counted once. Makes a context on it.
const ClusterRoom& count_clusters(int device);  // cluster_room.cu

/// "" where the compiled kernels can run on a device of that capability, else why not. A quick look
/// at the number; require_kernel_image() is the proof.
std::string why_unusable(int device);

/// Throws BACKEND_UNAVAILABLE where the driver finds no code for the current device in this library.
/// Makes a context on the device.
void require_kernel_image();

/// "800,900": what nvcc was asked for.
const char* compiled_architectures();
/// "13.0.88"
const char* compiler_version();

}  // namespace tessera::cuda
