// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "machine.hpp"

#include "gemm/dot_product.hpp"
#include "processors.hpp"
#include "thread_pool.hpp"

#include <tessera/plugin/error.hpp>

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace tessera::cpu {

namespace {

#if defined(__AVX512F__)
constexpr const Costs& kCosts = kAvx512Costs;
#elif defined(__AVX2__)
constexpr const Costs& kCosts = kAvx2Costs;
#elif defined(__aarch64__)
constexpr const Costs& kCosts = kNeonCosts;
#else
constexpr const Costs& kCosts = kSseCosts;
#endif

/// OpenMP's number. Where the user has not said one, it is that of the processors, and may be more than there are for
/// this process.
int default_threads() {
  static const bool said = std::getenv("OMP_NUM_THREADS") != nullptr;
  static const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int threads = omp_get_max_threads();
  return said || threads > processors ? threads : std::min(threads, useful_processors());
}

/// Adds what the processor has beyond the backend's instruction set. The core asked for that one, and for the state
/// that the system saves, before it opened this file.
Machine with_dot_products([[maybe_unused]] Machine machine) {
#if defined(__x86_64__)
  machine.dot_products = kHasDotProducts && __builtin_cpu_supports("avx512bf16");
  if (machine.dot_products && __builtin_cpu_is("amd")) machine.costs = with_fast_dot_products(machine.costs);
#endif
  return machine;
}

}  // namespace

Machine machine_here(int threads) {
  if (threads < 0)
    throw plugin::Error(TESSERA_INVALID_ARGUMENT,
                        "threads = " + std::to_string(threads) + ": must be 0 (the default of OpenMP) or more");
  static const Caches caches = caches_of_this_processor();
  const int wanted = threads == 0 ? default_threads() : threads;
  return with_dot_products({std::clamp(wanted, 1, kMostThreads), caches, kInstructionSet, kCosts});
}

}  // namespace tessera::cpu
