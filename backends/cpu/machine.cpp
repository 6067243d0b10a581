// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "machine.hpp"

#include "threads.hpp"

#include <tessera/plugin/error.hpp>

#include <omp.h>

#include <algorithm>
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

}  // namespace

Machine machine_here(int threads) {
  if (threads < 0)
    throw plugin::Error(TESSERA_INVALID_ARGUMENT,
                        "threads = " + std::to_string(threads) + ": must be 0 (the default of OpenMP) or more");
  static const Caches caches = caches_of_this_processor();
  const int wanted = threads == 0 ? omp_get_max_threads() : threads;
  return {std::clamp(wanted, 1, kMostThreads), caches, kInstructionSet, kCosts};
}

}  // namespace tessera::cpu
