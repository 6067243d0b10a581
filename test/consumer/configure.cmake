# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# What configuring says: of how things are compiled, and of options that cannot be met.
#   cmake -D SOURCE=<dir> -D BUILD=<dir> -D GENERATOR=<name> -D EIGEN=<dir of its package>
#     -D CC=<compiler> -D CXX=<compiler> -P configure.cmake
# EIGEN is empty where the cpu backend is not built, or not in variants.

cmake_minimum_required(VERSION 3.28)
set(ENV{CC} ${CC})
set(ENV{CXX} ${CXX})

# configure(<exit code> <what is said, or a pattern of it> <option>...)
function(configure code pattern)
  file(REMOVE_RECURSE ${BUILD})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} -DEigen3_DIR=${EIGEN}
    -DTESSERA_BACKEND_CUDA=OFF -DTESSERA_BACKEND_KOKKOS=OFF -DTESSERA_BUILD_CLI=OFF -DTESSERA_BUILD_EXAMPLES=OFF
    -DTESSERA_BUILD_MPI=OFF ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}") # CMake breaks its lines
  if(NOT result EQUAL code OR NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN}: exit code ${result}, not ${code}, or it does not say '${pattern}': ${output}")
  endif()
  message(STATUS "${ARGN}: ${CMAKE_MATCH_0}")
endfunction()

configure(1 "TESSERA_BACKEND_CPU is 'MAYBE'; it must be AUTO, ON or OFF" -DTESSERA_BACKEND_CPU=MAYBE)
configure(0 "backend cpu: no: TESSERA_BACKEND_CPU is OFF" -DTESSERA_BACKEND_CPU=off)
configure(1 "TESSERA_BACKEND_CPU is ON, but Eigen" -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON -DTESSERA_BACKEND_CPU=true)
configure(0 "No backend of Tessera is built.*The cpu backend needs Eigen" -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
configure(1 "TESSERA_BACKEND_CPU is ON, but Eigen"
  -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON -DTESSERA_BACKEND_CPU=ON)
configure(1 "TESSERA_BUILD_MPI is ON, but (MPI 3.0 or newer|libtessera_distributed)"
  -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DTESSERA_BACKEND_CPU=OFF -DTESSERA_BUILD_MPI=ON)
configure(0 "MPI: no: TESSERA_BUILD_MPI is OFF" -DTESSERA_BACKEND_CPU=OFF)
if(EIGEN)
  foreach(variants v5 "v3,v4" "")
    configure(1 "TESSERA_CPU_VARIANTS is '${variants}'; it must be a list of v2, v3, v4 and native"
      "-DTESSERA_CPU_VARIANTS=${variants}")
  endforeach()
  configure(0 "backend cpu: yes[^:]*, x86-64 v[234], nothing for processors with v[234] or v[234] "
    -DTESSERA_CPU_VARIANTS=native)
endif()

# A build type is chosen where Tessera is the project, and not for a project around it.
configure(0 "Tessera [0-9.]+, Release, " -DTESSERA_BACKEND_CPU=OFF)
set(tessera ${SOURCE})
set(SOURCE ${CMAKE_CURRENT_LIST_DIR}/subdirectory)
configure(0 "no CMAKE_BUILD_TYPE .kernels with -O3" -DTESSERA_SOURCE=${tessera} -DTESSERA_BACKEND_CPU=OFF
  -DQUICKSTART=own.cpp -DQUICKSTART_C=own.cpp -DOWN_LIBRARIES=STATIC_LIBRARY)
