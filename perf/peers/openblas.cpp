// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "library_peers.hpp"

#include <cstdlib>

namespace tessera::perf {

std::unique_ptr<Competitor> make_openblas(const std::string& path, int threads) {
  // Left over from builds of OpenBLAS on some machines; they force kernels of an older processor.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  Library library(path);
  const auto core_name = [&library] { return std::string(library.find<const char*()>("openblas_get_corename")()); };
  std::string choice = "OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE unset";
#if defined(__x86_64__)
  // Processors that it does not know by model get the oldest kernels, with SSE3; it reads its environment when loaded.
  if (core_name() == "Prescott" && __builtin_cpu_supports("avx512f")) {
    library.close();
    setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 1);
    library = Library(path);
    choice = "OPENBLAS_CORETYPE=SKYLAKEX, OPENBLAS_L2_SIZE unset";
  }
#endif
  if (threads > 0) library.find<void(int)>("openblas_set_num_threads")(threads);
  const std::string config = library.find<const char*()>("openblas_get_config")();
  return make_cblas("peer:openblas", config + ", kernels " + core_name() + " (" + choice + ")", library);
}

}  // namespace tessera::perf
