// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "host_peers.hpp"

#include <omp.h>

namespace tessera::perf {

void use_threads(int threads) {
  if (threads > 0) omp_set_num_threads(threads);
}

}  // namespace tessera::perf

extern "C" __attribute__((visibility("default"))) void tessera_perf_peers(tessera::perf::Competitors* competitors,
                                                                          void*, int, int threads) {
  competitors->push_back(tessera::perf::make_openmp_loop(threads));
  competitors->push_back(tessera::perf::make_openmp_wave(threads));
#if defined(TESSERA_PERF_EIGEN)
  competitors->push_back(tessera::perf::make_eigen(threads));
#endif
}
