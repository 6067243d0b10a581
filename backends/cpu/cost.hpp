// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What work costs on a typical core: enough to compare backends, and to tell whether another
/// thread pays. Not a model of the machine at hand.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <algorithm>

namespace tessera::cpu {

/// Sustained f32 flop/s of one core in a blocked GEMM of this instruction set; f64 has half.
#if defined(__AVX512F__)
inline constexpr double kFlopsPerThread = 110e9;
#elif defined(__AVX2__)
inline constexpr double kFlopsPerThread = 70e9;
#elif defined(__x86_64__)
inline constexpr double kFlopsPerThread = 18e9;
#else
inline constexpr double kFlopsPerThread = 30e9;
#endif
/// Memory bandwidth in bytes/s that one core draws, and what a socket has: copies of 16 threads of a Xeon reached
/// 120-150.
inline constexpr double kBytesPerThread = 15e9;
inline constexpr double kBytesPerSocket = 120e9;
/// Seconds to enter a plan's execution, and to wake and gather a team of threads.
inline constexpr double kCallSeconds = 0.1e-6;
inline constexpr double kTeamSeconds = 4e-6;

/// Flops, and bytes to and from memory, of one execution.
struct Work {
  double flops;
  double bytes;
  tessera_dtype dtype;

  double seconds(int threads) const {
    const double peak = kFlopsPerThread * threads * 4.0 / double(plugin::size_of(dtype));
    const double bandwidth = std::min(kBytesPerSocket, kBytesPerThread * threads);
    return kCallSeconds + (threads > 1 ? kTeamSeconds : 0.0) + std::max(flops / peak, bytes / bandwidth);
  }

  /// As many threads up to `limit` as each have work for twice the time that a team costs.
  int useful_threads(int limit) const {
    const double shares = (seconds(1) - kCallSeconds) / (2.0 * kTeamSeconds);
    return shares >= limit ? limit : std::max(1, int(shares));
  }
};

inline Work work_of(const plugin::GemmProblem& p) { return {p.flops(), p.bytes(), p.dtype}; }

/// One sweep: in read, out written, and read into the cache before that.
inline Work work_of_sweep(const plugin::StencilProblem& p) {
  const double points = double(p.domain.extents[0]) * double(p.domain.extents[1]) * double(p.domain.extents[2]);
  return {2.0 * double(p.taps.size()) * points, 3.0 * points * double(plugin::size_of(p.dtype)), p.dtype};
}

}  // namespace tessera::cpu
