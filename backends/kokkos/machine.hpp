// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The machine of a flavour as its models of time see it, and the models: what a kernel would take at the machine's
/// rates, and the share of these that it reaches.
#pragma once

#include "convert.hpp"
#include "flavour.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>

namespace tessera::kokkos {

/// The parts of the machine's rates that the algorithms reach.
struct Costs {
  double gemm_team_tiled, gemm_mdrange;
  double stencil_team_tiled, stencil_mdrange;
  double launch;        ///< seconds to dispatch a kernel
  double system_value;  ///< seconds for an f32 that a point of a system reads, on a thread or a multiprocessor
};

#if defined(KOKKOS_ENABLE_CUDA)
inline constexpr Costs kCosts{1.0, 0.20, 1.0, 0.50, 8e-6, 0.13e-9};
/// Rates on an H100 with 132 multiprocessors.
inline constexpr double kFlopsPerMultiprocessor = 20e12 / 132.0;
inline constexpr double kMemoryRate = 1.5e12;  ///< bytes/s
inline constexpr double kHostRate = 25e9;      ///< bytes/s between host and device
inline constexpr double kHostSeconds = 20e-6;  ///< that operands in host memory cost in any case
/// Time for an element of D in small tiles, that in large ones being 1.
inline constexpr double kSmallTileCost = 1.5;
#else
inline constexpr Costs kCosts{0.25, 0.06, 0.15, 0.08, 5e-6, 0.18e-9};
#endif

struct Machine {
  MemoryContext::Machine device;  ///< as the hand-written backend of the same memory sees it
  Costs costs = kCosts;

#if defined(KOKKOS_ENABLE_CUDA)
  /// Of a kernel that reaches `share` of the rates.
  double seconds(double flops, double bytes, tessera_dtype, double share) const {
    const double rate = kFlopsPerMultiprocessor * device.multiprocessors;
    return costs.launch + std::max(flops / rate, bytes / kMemoryRate) / share;
  }
  /// Of a step of a system, which reads so many values. Not measured: a value takes some 30 instructions.
  double system_step_seconds(double values, double bytes, double launches, tessera_dtype) const {
    return launches * costs.launch +
           std::max(values * costs.system_value / device.multiprocessors, bytes / kMemoryRate);
  }
  double host_seconds(double bytes) const { return kHostSeconds + bytes / kHostRate; }
#else
  double seconds(double flops, double bytes, tessera_dtype dtype, double share) const {
    const int n = device.threads;
    const double lanes = double(device.instructions.vector_bytes) / double(scalar_bytes(dtype));
    const double multiply_adds = flops / 2.0 / lanes * device.costs.gemm.multiply_add * device.slowdown(n) / n;
    return costs.launch + device.overhead(n) + std::max(multiply_adds, bytes / (n * device.bandwidth(n))) / share;
  }
  /// Of a step of a system, which reads so many values. Half of what one takes grows with its size; measured on one
  /// processor, where values of f32 take 0.15 to 0.25 ns.
  double system_step_seconds(double values, double bytes, double launches, tessera_dtype dtype) const {
    const int n = device.threads;
    const double wide = 0.5 + double(scalar_bytes(dtype)) / 8.0;
    const double computing = values * costs.system_value * wide * device.slowdown(n) / n;
    return launches * (costs.launch + device.overhead(n)) + std::max(computing, bytes / (n * device.bandwidth(n)));
  }
#endif
};

/// One execution of a product.
inline double gemm_seconds(const Machine& machine, const plugin::GemmProblem& p, double share) {
  return machine.seconds(p.flops(), p.bytes(), p.dtype, share);
}

/// Bytes that a stencil must read and write in any case.
inline double field_bytes(const plugin::StencilProblem& p) {
  return 2.0 * double(p.points()) * double(plugin::size_of(p.dtype));
}

/// All sweeps of a stencil. A host's write is a read, too.
inline double stencil_seconds(const Machine& machine, const plugin::StencilProblem& p, double share) {
  const double flops = 2.0 * double(p.taps.size()) * double(p.points());
  const double bytes = (kOnHost ? 1.5 : 1.0) * field_bytes(p);
  return double(std::max<std::int64_t>(p.steps, 1)) * machine.seconds(kOnHost ? flops : 0.0, bytes, p.dtype, share);
}

}  // namespace tessera::kokkos
