// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The peers that are compiled with the suite's own flags, one module for each instruction set.
#pragma once

#include "device.hpp"

namespace tessera::perf {

std::unique_ptr<Competitor> make_openmp_loop(int threads);
std::unique_ptr<Competitor> make_openmp_wave(int threads);
std::unique_ptr<Competitor> make_eigen(int threads);

/// Number of OpenMP threads of the calling thread from now on; 0: leave it.
void use_threads(int threads);

}  // namespace tessera::perf
