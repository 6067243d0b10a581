// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// MPI in C++17, which is not initialized: that is said, and MPI does not end the program.

#include <tessera/mpi.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

static_assert(__cplusplus < 202002L, "the project asked for C++17");

int main() {
  try {
    tessera::mpi::transport(MPI_COMM_WORLD);
  } catch (const std::runtime_error& e) {
    std::printf("%s\n", e.what());
    return std::string(e.what()).find("MPI is not running") == 0 ? 0 : 1;
  }
  return 1;
}
