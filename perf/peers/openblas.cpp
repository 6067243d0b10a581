// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "library_peers.hpp"

#include <cstdlib>

namespace tessera::perf {

namespace {

std::unique_ptr<Competitor> make(const std::string& peer, const std::string& path, int threads,
                                 const LibraryNames& names) {
  // Left over from builds of OpenBLAS on some machines; they force kernels of an older processor.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  Library library(path);
  const auto text = [&](const char* name) { return std::string(library.find<const char*()>(names.of(name))()); };
  std::string choice = "OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE unset";
#if defined(__x86_64__)
  // Processors that it does not know by model get the oldest kernels, with SSE3; it reads its environment when loaded.
  if (text("openblas_get_corename") == "Prescott" && __builtin_cpu_supports("avx512f")) {
    library.close();
    setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 1);
    library = Library(path);
    choice = "OPENBLAS_CORETYPE=SKYLAKEX, OPENBLAS_L2_SIZE unset";
  }
#endif
  if (threads > 0) library.find<void(int)>(names.of("openblas_set_num_threads"))(threads);
  const std::string version =
      text("openblas_get_config") + ", kernels " + text("openblas_get_corename") + " (" + choice + ")";
  return make_cblas(peer, version, library, names);
}

}  // namespace

std::unique_ptr<Competitor> make_openblas(const std::string& path, int threads) {
  return make("peer:openblas", path, threads, {});
}

std::unique_ptr<Competitor> make_numpy_openblas(const std::string& path, int threads) {
  return make("peer:numpy_openblas", path, threads, {"scipy_", "64_", true});
}

}  // namespace tessera::perf
