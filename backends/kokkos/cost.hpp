// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What score() promises.
#pragma once

#include "flavour.hpp"

#if !defined(KOKKOS_ENABLE_CUDA)
#include "../cpu/cost.hpp"
#endif

#include <algorithm>

namespace tessera::kokkos {

#if defined(KOKKOS_ENABLE_CUDA)
// Rates on an H100.
inline constexpr double kGemmFlops = 20e12;
inline constexpr double kMemoryRate = 1.5e12;  ///< bytes/s
inline constexpr double kLaunchSeconds = 8e-6;
inline constexpr double kTransferRate = 25e9;  ///< bytes/s between host and device
inline constexpr double kTransferSeconds = 20e-6;

inline double executions_per_second(double seconds, double host_bytes, tessera_memory memory) {
  const double transfer = memory == TESSERA_MEMORY_HOST ? kTransferSeconds + host_bytes / kTransferRate : 0.0;
  return 1.0 / (seconds + transfer);
}
inline double gemm_score(int, const plugin::GemmProblem& p, tessera_memory memory, double share) {
  const double work = std::max(p.flops() / kGemmFlops, p.bytes() / kMemoryRate);
  return executions_per_second(kLaunchSeconds + work / share, p.bytes(), memory);
}
inline double stencil_score(int, const plugin::StencilProblem& p, tessera_memory memory, double share) {
  const double bytes = 2.0 * double(p.points()) * double(plugin::size_of(p.dtype));
  return executions_per_second(double(p.steps) * (kLaunchSeconds + bytes / kMemoryRate / share), bytes, memory);
}
#else
/// What the CPU backend promises for itself, and the share of that which Kokkos' dispatch leaves.
inline constexpr double kShare = 0.8;

inline double gemm_score(int, const plugin::GemmProblem& p, tessera_memory, double share) {
  const cpu::Work work = cpu::work_of(p);
  return share * kShare / work.seconds(work.useful_threads(omp_get_max_threads()));
}
inline double stencil_score(int, const plugin::StencilProblem& p, tessera_memory, double share) {
  const cpu::Work sweep = cpu::work_of_sweep(p);
  return share * kShare /
         (double(std::max<std::int64_t>(1, p.steps)) * sweep.seconds(sweep.useful_threads(omp_get_max_threads())));
}
#endif

}  // namespace tessera::kokkos
