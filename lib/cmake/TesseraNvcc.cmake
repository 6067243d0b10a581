# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Toolkits are often installed beside the search path, so check_language gets a hint: CUDACXX in the environment.
if(NOT DEFINED ENV{CUDACXX})
  find_program(TESSERA_NVCC nvcc
    HINTS ENV CUDA_HOME ENV CUDA_PATH ENV CUDAToolkit_ROOT PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin
    DOC "CUDA compiler, where CMAKE_CUDA_COMPILER is not given")
  mark_as_advanced(TESSERA_NVCC)
  if(TESSERA_NVCC)
    set(ENV{CUDACXX} ${TESSERA_NVCC})
  endif()
endif()
