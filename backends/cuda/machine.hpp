// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A device as the models of time see it: a value, without CUDA.
#pragma once

#include "gemm/costs.hpp"
#include "stencil/costs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

/// What the driver tells of a device.
struct DeviceProperties {
  int major, minor;  ///< compute capability
  int multiprocessors;
  int threads_per_multiprocessor;
  int shared_per_block;  ///< bytes, the opt-in maximum
  int shared_per_multiprocessor;
  std::int64_t l2_bytes;  ///< of the second-level cache
  bool cooperative;       ///< blocks of a launch may wait for each other
  double clock_hz;
  double memory_clock_hz;
  int memory_bus_bits;
};

/// The most blocks of a cluster that every device with clusters runs.
inline constexpr std::size_t kMostInCluster = 8;
/// The most blocks of a kernel with clusters that a multiprocessor holds at once.
inline constexpr std::size_t kMostClusteredBlocksPerSm = 8;

/// Bytes of shared memory that the system takes of every block.
inline constexpr int kReservedBytes = 1024;

/// Blocks in clusters that a device holds at once: [blocks that a multiprocessor holds - 1][blocks of a cluster - 1]. A
/// cluster lies within one of the device's groups of multiprocessors, whose sizes differ from device to device.
using ClusterRoom = std::array<std::array<int, kMostInCluster>, kMostClusteredBlocksPerSm>;

/// Multiply-adds that the units of a multiprocessor can do in a cycle.
struct Units {
  int fma_f32, fma_f64;
  int mma_f64, mma_16, mma_tf32;  ///< on the tensor cores; mma_16: of f16 and bf16, with sums of f32
};

struct Machine : DeviceProperties {
  Units units{};
  double memory_rate = 0.0;   ///< bytes/s that a copy within the device memory reads and writes
  double host_rate = 0.0;     ///< bytes/s between host and device
  double host_latency = 0.0;  ///< seconds that operands in host memory cost in any case
  GemmCosts gemm{};           ///< measured on the device, or on one like it
  StencilCosts stencil{};     ///< likewise

  int device = 0;  ///< its number
  /// The room for clusters as the driver counts it, at the first call; makes a context on the device. None where the
  /// device runs code for older ones. Null: clusters are taken to lose nothing.
  const ClusterRoom& (*count_clusters)(int device) = nullptr;

  /// Whether blocks can form clusters. May make a context on the device: to be asked where it decides something.
  bool clusters() const { return major >= 9 && (count_clusters == nullptr || count_clusters(device)[0][0] > 0); }
  /// Cycles that all multiprocessors together can spend in a second.
  double cycles_per_second() const { return multiprocessors * clock_hz; }
  /// As a plan sees it that may occupy so many multiprocessors; 0: all.
  Machine limited(int most) const {
    Machine machine = *this;
    if (most <= 0 || most >= multiprocessors) return machine;
    machine.multiprocessors = most;
    machine.memory_rate *= double(most) / multiprocessors;  // each has its share, and not much more
    return machine;
  }
};

/// The machine that such a device is. Rates are those measured on an H100, scaled by what the properties say; so are
/// those of devices that nobody has measured.
Machine machine_of(const DeviceProperties& properties);

/// The device that was measured.
inline constexpr DeviceProperties kH100{.major = 9,
                                        .minor = 0,
                                        .multiprocessors = 132,
                                        .threads_per_multiprocessor = 2048,
                                        .shared_per_block = 232448,
                                        .shared_per_multiprocessor = 233472,
                                        .l2_bytes = 52428800,
                                        .cooperative = true,
                                        .clock_hz = 1.980e9,
                                        .memory_clock_hz = 2.619e9,
                                        .memory_bus_bits = 5120};

}  // namespace tessera::cuda
