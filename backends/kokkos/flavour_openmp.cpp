// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The flavour on the processor.

#include "flavour.hpp"

#include "../cpu/machine.hpp"
#include "../cpu/processor.hpp"
#include "../cpu/thread_pool.hpp"
#include "version.hpp"

#include <algorithm>

namespace tessera::kokkos {

using plugin::Error;

std::string flavour_info() { return "OpenMP, " TESSERA_KOKKOS_MARCH; }
void require_flavour() {
  cpu::watch_forks();
  require_no_pending_fault();
}
std::vector<plugin::Device> flavour_devices() { return {{cpu::processor_name(), cpu::memory_bytes()}}; }
cpu::Machine flavour_machine(int, int threads) { return cpu::machine_here(threads); }
bool device_is_well() { return !cpu::threads_lost(); }
int flavour_threads(const MemoryContext& context) {
  return cpu::usable_threads(std::min(context.machine().threads, kMostThreads));
}

void require_no_pending_fault() {
  if (cpu::threads_lost())
    throw Error(TESSERA_UNSUPPORTED,
                "this process was forked from one with several threads, and Kokkos' own are not in it; use the cpu "
                "backend here, fork before the first use of Tessera, or start a new program (exec, spawn)");
}

void require_threads(const Space& space) {
  const int wanted = space.concurrency(), usable = cpu::usable_threads(wanted);
  if (usable < wanted)
    throw Error(TESSERA_OUT_OF_MEMORY, "the calling thread can have " + std::to_string(usable) + " of the " +
                                           std::to_string(wanted) +
                                           " threads of Kokkos; make the context with fewer (TESSERA_NUM_THREADS)");
}

Space make_space(MemoryContext& context) { return make_openmp(flavour_threads(context)); }

}  // namespace tessera::kokkos
