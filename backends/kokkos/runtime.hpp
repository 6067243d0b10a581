// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The life of Kokkos inside the plugin.
#pragma once

namespace tessera::kokkos {

/// Initialises Kokkos where nobody has, the first time on `threads` threads, and proves it with a sum. Throws
/// BACKEND_UNAVAILABLE with the reason; what failed once is not tried again, since Kokkos would end the process.
/// Kokkos that the plugin initialised is finalised when the program ends, not by a static destructor: the libraries it
/// needs may be gone by then. A Kokkos that the program has initialised itself (a shared one) is used and left alone.
void require_runtime(int threads);

/// False before Kokkos is initialised, and once it is finalised: then nothing of it may be touched.
bool runtime_lives();

}  // namespace tessera::kokkos
