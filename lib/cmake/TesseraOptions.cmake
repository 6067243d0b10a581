# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# What a user can set, and the summary that says what came of it.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_SCAN_FOR_MODULES OFF) # there are none

if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build libtessera as a shared library" ON)
elseif(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS ON) # here alone: the cache would turn the libraries of the whole project
endif()
option(TESSERA_BUILD_TESTS "Build the tests; needs Catch2 >= 3.4" OFF)
option(TESSERA_BUILD_FUZZERS "Build the fuzz targets; needs TESSERA_BUILD_TESTS, clang and the preset 'fuzz'" OFF)
option(TESSERA_BUILD_PERF "Build the perf suite; needs CLI11 and nlohmann-json" OFF)
option(TESSERA_BUILD_EXAMPLES "Build the examples, the showcase among them" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_CLI "Build the command line program" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_BLAS "Build libtessera_blas, where libtessera is shared" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_DISTRIBUTED "Build libtessera_distributed, where libtessera is shared" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_PYTHON "Build the Python package; needs nanobind and NumPy" OFF)
option(TESSERA_INSTALL "Generate install rules" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_WARNINGS_AS_ERRORS "Turn warnings into errors" OFF)

# tessera_auto_option(<name> <text> <default>): AUTO (where its needs are found), ON or OFF.
function(tessera_auto_option name text default)
  set(${name} ${default} CACHE STRING "${text}: AUTO (where its needs are found), ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${${name}}" choice)
  if(choice MATCHES "^(0|NO|N|FALSE)$")
    set(choice OFF)
  elseif(choice MATCHES "^(1|YES|Y|TRUE)$")
    set(choice ON)
  elseif(NOT choice MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${name} is '${${name}}'; it must be AUTO, ON or OFF.")
  endif()
  set(${name} ${choice} PARENT_SCOPE)
endfunction()
foreach(backend CPU CUDA KOKKOS)
  tessera_auto_option(TESSERA_BACKEND_${backend} "Build the ${backend} backend" AUTO)
endforeach()
set(default OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(default AUTO)
endif()
tessera_auto_option(TESSERA_BUILD_MPI "Make the target tessera::mpi" ${default})

# One line of the summary. With ON, a part that cannot be built is an error.
#   tessera_report(<name> <what was built, or "no: reason">)
function(tessera_report name text)
  set_property(GLOBAL APPEND PROPERTY TESSERA_SUMMARY "${name}|${text}")
endfunction()

# tessera_skip(<option> <name in the summary> <reason>)
function(tessera_skip option name reason)
  if("${${option}}" STREQUAL "ON")
    message(FATAL_ERROR "${option} is ON, but ${reason}.")
  endif()
  tessera_report("${name}" "no: ${reason}")
endfunction()

function(tessera_skip_backend backend reason)
  string(TOLOWER ${backend} name)
  tessera_skip(TESSERA_BACKEND_${backend} "backend ${name}" "${reason}")
endfunction()

# tessera_print_summary(<names of the backends that are built>)
function(tessera_print_summary built)
  get_property(lines GLOBAL PROPERTY TESSERA_SUMMARY)
  set(types ${CMAKE_BUILD_TYPE})
  if(CMAKE_CONFIGURATION_TYPES)
    list(JOIN CMAKE_CONFIGURATION_TYPES " or " types)
  elseif(NOT types)
    set(types "no CMAKE_BUILD_TYPE (kernels with -O3, the rest as CMAKE_CXX_FLAGS say)")
  endif()
  message(STATUS "Tessera ${PROJECT_VERSION}, ${types}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  foreach(line ${lines})
    string(REPLACE "|" ": " line "${line}")
    message(STATUS "  ${line}")
  endforeach()
  if(NOT built AND NOT "${TESSERA_BACKEND_CPU}${TESSERA_BACKEND_CUDA}${TESSERA_BACKEND_KOKKOS}" STREQUAL "OFFOFFOFF")
    message(WARNING "No backend of Tessera is built: programs will find nothing that computes, but for plugins that "
      "are built elsewhere. The lines above say what each backend lacks. The cpu backend needs Eigen 3.4 or newer "
      "(libeigen3-dev) and OpenMP.")
  endif()
endfunction()

# Settings of every target of ours.
function(tessera_target_defaults target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    CUDA_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
      $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> # false reports of g++ 12 on std::string
      $<$<BOOL:${TESSERA_WARNINGS_AS_ERRORS}>:-Werror>>)
endfunction()

# Where the build is asked for it (CMAKE_UNITY_BUILD), the files of a target are compiled several at a time: most of a
# small file's time goes to its headers. Kernels, headers' tests and examples are compiled one by one all the same, and
# where a compiler cache is the launcher, everything is.
#   tessera_unite(<target> [<file that has names of another>...])
set(TESSERA_UNITY_BUILD ${CMAKE_UNITY_BUILD})
set(CMAKE_UNITY_BUILD OFF)
function(tessera_unite target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    set_target_properties(${target} PROPERTIES UNITY_BUILD "${TESSERA_UNITY_BUILD}")
  endif()
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Parses large headers once for all C++ files of a target. Each file still includes all that it needs: where a compiler
# cache is the launcher, which finds whole files more often, nothing is precompiled.
#   tessera_precompile(<target> <header>...)
#   tessera_precompile(<target> REUSE_FROM <target with the same options>)
function(tessera_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
