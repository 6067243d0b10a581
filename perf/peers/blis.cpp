// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "library_peers.hpp"

#include <cstdlib>

namespace tessera::perf {

std::unique_ptr<Competitor> make_blis(const std::string& path, int threads) {
  std::string choice = "its own choice of kernels";
#if defined(__x86_64__)
  // Processors that it does not know by model get generic kernels (15 % of the peak); 0 is skx in its list.
  if (std::getenv("BLIS_ARCH_TYPE") == nullptr && __builtin_cpu_supports("avx512f")) {
    setenv("BLIS_ARCH_TYPE", "0", 1);
    choice = "BLIS_ARCH_TYPE=0 (skx)";
  }
#endif
  setenv("BLIS_NUM_THREADS", std::to_string(threads).c_str(), 1);
  const Library library(path);
  return make_cblas("peer:blis", library.find<const char*()>("bli_info_get_version_str")() + (", " + choice), library);
}

}  // namespace tessera::perf
