// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "library_peers.hpp"

#include <array>
#include <cstdlib>

namespace tessera::perf {

std::unique_ptr<Competitor> make_mkl(const std::string& path, int threads) {
  setenv("MKL_THREADING_LAYER", "GNU", 0);  // the OpenMP of everything else here, unless the user says otherwise
  const Library library(path);
  if (threads > 0) library.find<void(int)>("MKL_Set_Num_Threads")(threads);
  std::array<char, 200> version{};
  library.find<void(char*, int)>("MKL_Get_Version_String")(version.data(), int(version.size()) - 1);
  return make_cblas("peer:mkl", std::string(version.data()) + ", threads by " + std::getenv("MKL_THREADING_LAYER"),
                    library);
}

}  // namespace tessera::perf
