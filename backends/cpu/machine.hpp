// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The machine as the models of time see it.
#pragma once

#include "caches.hpp"
#include "costs.hpp"
#include "instruction_set.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::cpu {

/// A value: models read nothing else of the processor or of OpenMP.
struct Machine {
  int threads;  ///< most that a plan uses
  Caches caches;
  InstructionSet instructions;
  Costs costs;
  bool dot_products = false;  ///< the processor has those of bf16 (AVX512-BF16), and this build kernels for them

  /// Bytes per second of each of `n` threads.
  double bandwidth(int n) const { return std::min(costs.common.bytes_per_thread, costs.common.bytes_per_socket / n); }
  /// How much longer a computation takes where `n` threads compute.
  double slowdown(int n) const { return n == 1 ? 1.0 : std::pow(double(n), costs.common.sharing); }
  /// Of an execution, besides its work.
  double overhead(int n) const { return costs.common.call + (n > 1 ? costs.common.team : 0.0); }
  /// As many threads up to the limit as each have work for twice the time that a team costs, where one thread works
  /// for so many seconds.
  int useful_threads(double seconds) const {
    const double shares = seconds / (2.0 * costs.common.team);
    return shares >= threads ? threads : std::max(1, int(shares));
  }
};

/// This processor, with so many threads (0: as many as OpenMP has, where nobody said how
/// many no more than the affinity mask and the control groups leave; 1 to kMostThreads), and the costs of the
/// instruction set that the backend is built for. Throws for a number below 0.
Machine machine_here(int threads);

}  // namespace tessera::cpu
