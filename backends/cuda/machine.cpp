// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "machine.hpp"

namespace tessera::cuda {
namespace {

// Measured on an H100 (ceiling "copy" of perf/baselines/h100-gemm.json; transfers of pinned memory).
constexpr double kMeasuredMemoryRate = 2.978e12;
constexpr double kMeasuredHostRate = 25e9;
constexpr double kMeasuredHostLatency = 20e-6;

/// By the CUDA C++ Programming Guide's table of arithmetic throughput.
Units units_of(int major, int minor) {
  if (major == 8) return minor == 0 ? Units{64, 32, 64, 1024, 512} : Units{128, 2, 2, 512, 256};
  if (major == 9) return {128, 64, 128, 2048, 1024};
  if (major == 10) return minor == 0 ? Units{128, 64, 64, 2048, 1024} : Units{128, 2, 2, 512, 256};
  return {128, 2, 2, 512, 256};
}

/// Bytes/s of the memory's bus, which moves data twice a clock.
double bus_rate(const DeviceProperties& p) { return 2.0 * p.memory_clock_hz * p.memory_bus_bits / 8.0; }

}  // namespace

Machine machine_of(const DeviceProperties& properties) {
  Machine machine{properties};
  if (!(machine.clock_hz > 0.0)) machine.clock_hz = kH100.clock_hz;  // some drivers do not tell
  machine.units = units_of(properties.major, properties.minor);
  const double bus = bus_rate(properties) / bus_rate(kH100);
  machine.memory_rate = kMeasuredMemoryRate * (bus > 0.0 ? bus : 1.0);
  machine.host_rate = kMeasuredHostRate;
  machine.host_latency = kMeasuredHostLatency;
  return machine;
}

}  // namespace tessera::cuda
