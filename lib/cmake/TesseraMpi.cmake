# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# tessera::mpi: tessera/mpi.hpp with the MPI that is found here, for the programs of this build. The header is installed
# in any case, and the package makes the target with the MPI of the project that asks for it (tesseraConfig.cmake.in).
if(TESSERA_BUILD_MPI STREQUAL "OFF")
  tessera_report("MPI" "no: TESSERA_BUILD_MPI is OFF")
  return()
endif()
if(NOT TARGET tessera::distributed)
  tessera_skip(TESSERA_BUILD_MPI "MPI" "libtessera_distributed is not built (TESSERA_BUILD_DISTRIBUTED)")
  return()
endif()
find_package(MPI 3.0 QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  tessera_skip(TESSERA_BUILD_MPI "MPI" "MPI 3.0 or newer for C++ was not found (libopenmpi-dev, or set MPI_HOME)")
  return()
endif()

add_library(tessera_mpi INTERFACE)
add_library(tessera::mpi ALIAS tessera_mpi)
target_link_libraries(tessera_mpi INTERFACE tessera::distributed MPI::MPI_CXX)
tessera_report("MPI" "yes, MPI ${MPI_CXX_VERSION}")
