# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# `cmake -C lib/cmake/TesseraThisMachine.cmake` builds for this machine alone: its own instruction set, and CUDA for its
# devices. What the directory is already built for stays, so that no command of bootstrap.sh takes a plugin of another
# away.

cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
foreach(kind CPU KOKKOS)
  if(processor STREQUAL "x86_64" AND NOT TESSERA_${kind}_VARIANTS MATCHES "native|v2.*v3.*v4")
    set(TESSERA_${kind}_VARIANTS ${TESSERA_${kind}_VARIANTS} native CACHE STRING "" FORCE)
  endif()
endforeach()

if(CMAKE_CUDA_COMPILER AND NOT TESSERA_BACKEND_CUDA STREQUAL "OFF")
  return()
endif()
execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
  OUTPUT_VARIABLE devices RESULT_VARIABLE failed ERROR_QUIET)
string(REGEX MATCHALL "[0-9]+\\.[0-9]" devices "${devices}")
include(${CMAKE_CURRENT_LIST_DIR}/TesseraNvcc.cmake)
if(failed OR NOT devices OR NOT DEFINED ENV{CUDACXX})
  set(TESSERA_BACKEND_CUDA OFF CACHE STRING "" FORCE)
  return()
endif()
unset(TESSERA_BACKEND_CUDA CACHE)

# The default list serves devices that are too old or that nvcc does not know.
execute_process(COMMAND $ENV{CUDACXX} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
set(architectures)
foreach(device IN LISTS devices)
  string(REPLACE "." "" device ${device})
  if(device LESS 80 OR NOT known MATCHES "sm_${device}\n")
    return()
  endif()
  list(APPEND architectures ${device}-real)
endforeach()
list(REMOVE_DUPLICATES architectures)
if(NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING "" FORCE)
endif()
