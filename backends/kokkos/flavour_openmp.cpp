// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The flavour on the processor.

#include "flavour.hpp"

#include "../cpu/machine.hpp"
#include "version.hpp"

#include <algorithm>

namespace tessera::kokkos {

std::string flavour_info() { return "OpenMP, " TESSERA_KOKKOS_MARCH; }
void require_flavour() {}
std::vector<plugin::Device> flavour_devices() { return {{cpu::processor_name(), cpu::memory_bytes()}}; }
bool device_is_well() { return true; }
int flavour_threads(const MemoryContext& context) { return std::min(context.threads(), kMostThreads); }
void require_no_pending_fault() {}
Space make_space(MemoryContext& context) { return make_openmp(flavour_threads(context)); }

}  // namespace tessera::kokkos
