// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "library_peers.hpp"

#include <cstdlib>

namespace tessera::perf {

LibraryPeer make_openblas(const std::string& path, int threads) {
  // Left over from builds of OpenBLAS on some machines; they force kernels of an older processor.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  const Library library(path);
  if (threads > 0) library.find<void(int)>("openblas_set_num_threads")(threads);
  const std::string config = library.find<const char*()>("openblas_get_config")();
  const std::string core = library.find<const char*()>("openblas_get_corename")();
  return {make_cblas("peer:openblas", library),
          config + ", kernels " + core + " (OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE unset)"};
}

}  // namespace tessera::perf
