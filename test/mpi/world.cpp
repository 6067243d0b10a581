// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "world.hpp"

#include "random.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tessera::test {

void require(bool holds, const std::string& what) {
  if (holds) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::printf("rank %d: FAILED: %s\n", rank, what.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void share_seed() {
  unsigned long long number = 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) number = seed();
  MPI_Bcast(&number, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  setenv("TESSERA_TEST_SEED", std::to_string(number).c_str(), 1);
  if (rank == 0) std::printf("TESSERA_TEST_SEED=%llu\n", number);
}

}  // namespace tessera::test
