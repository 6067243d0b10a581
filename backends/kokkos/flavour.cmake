# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# What the directories of the flavours have in common.

# tessera_find_kokkos(<flavour> <device>): sets Kokkos_FOUND and defines Kokkos' targets in the caller's directory, or
# reports why there is no such Kokkos. Kokkos_DIR stays as the user has it.
macro(tessera_find_kokkos flavour device)
  set(CMAKE_CXX_EXTENSIONS OFF) # before Kokkos does so in the cache, with a warning
  string(TOUPPER ${flavour} upper)
  if(TESSERA_KOKKOS_${upper}_ROOT)
    set(users_choice "${Kokkos_DIR}")
    unset(Kokkos_DIR CACHE)
    find_package(Kokkos CONFIG QUIET PATHS ${TESSERA_KOKKOS_${upper}_ROOT} NO_DEFAULT_PATH)
    set(where " in ${TESSERA_KOKKOS_${upper}_ROOT}")
    set(Kokkos_DIR "${users_choice}" CACHE PATH "Directory of KokkosConfig.cmake" FORCE)
  else()
    find_package(Kokkos CONFIG QUIET)
    set(where "")
  endif()
  if(NOT Kokkos_FOUND)
    set(hint "CMAKE_PREFIX_PATH, Kokkos_DIR or TESSERA_KOKKOS_${upper}_ROOT")
    tessera_skip_flavour(${flavour} "no Kokkos was found${where} (${hint})")
  elseif(Kokkos_VERSION VERSION_LESS 3.4)
    tessera_skip_flavour(${flavour} "Kokkos ${Kokkos_VERSION}${where} is older than 3.4")
    set(Kokkos_FOUND FALSE)
  elseif(NOT ${device} IN_LIST Kokkos_DEVICES)
    tessera_skip_flavour(${flavour} "Kokkos ${Kokkos_VERSION}${where} has no ${device}, it has ${Kokkos_DEVICES}")
    set(Kokkos_FOUND FALSE)
  endif()
endmacro()

function(tessera_skip_flavour flavour reason)
  tessera_report("backend kokkos-${flavour}" "no: ${reason}")
  set_property(GLOBAL APPEND_STRING PROPERTY TESSERA_KOKKOS_SKIPPED "kokkos-${flavour}: ${reason}; ")
endfunction()

# " (a shared library: ...)" for the summary, or "". Imported targets and, in a build of Kokkos' own, real ones.
function(tessera_kokkos_isolation result)
  set(${result} "" PARENT_SCOPE)
  foreach(target Kokkos::kokkoscore Kokkos::core Kokkos::kokkos)
    if(TARGET ${target})
      get_target_property(type ${target} TYPE)
      if(type STREQUAL "SHARED_LIBRARY")
        set(warning " (WARNING: a shared library, which the program and other libraries may use as well)")
        set(${result} "${warning}" PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# tessera_add_kokkos_plugin(<flavour> [VARIANT <v2|v3|v4>] SOURCES ... LINK ... OPTIONS ... DEFINITIONS ...)
function(tessera_add_kokkos_plugin flavour)
  cmake_parse_arguments(arg "" "VARIANT" "SOURCES;LINK;OPTIONS;DEFINITIONS" ${ARGN})
  set(name kokkos-${flavour})
  if(arg_VARIANT)
    set(variant VARIANT ${arg_VARIANT})
  endif()
  tessera_add_backend(${name} ${variant}
    SOURCES ${TESSERA_KOKKOS_SOURCES} ${arg_SOURCES}
    LINK Kokkos::kokkos ${arg_LINK}
    OPTIONS ${arg_OPTIONS}
    DEFINITIONS ${arg_DEFINITIONS} "TESSERA_KOKKOS_VERSION=\"${Kokkos_VERSION}\"")
  set(target tessera_backend_${name})
  if(arg_VARIANT)
    string(APPEND target -${arg_VARIANT})
  endif()
  # Some packages of Kokkos put standards into the cache; nothing is left to them.
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict> # false reports of g++ 12 on std::string
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TESSERA_WARNINGS_AS_ERRORS}>>:-Werror>)
  if(flavour STREQUAL "openmp") # nvcc_wrapper takes none
    tessera_precompile(${target} <Kokkos_Core.hpp> <tessera/plugin/plugin.hpp>)
  endif()
  set_property(GLOBAL APPEND PROPERTY TESSERA_KOKKOS_BUILT ${name})
endfunction()
