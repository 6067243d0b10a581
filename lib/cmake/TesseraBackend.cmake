# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# The one way to make a backend. Used by the backends here and, from the installed package, by
# backends that live elsewhere.
#
#   tessera_add_backend(<name> [VARIANT <v2|v3|v4>] SOURCES <file>... [LINK <library>...]
#                       [OPTIONS <compile option>...] [DEFINITIONS <definition>...])
#
# Makes the MODULE target tessera_backend_<name>[-<variant>], which
# - exports tessera_backend_v1 and nothing else (hidden visibility and a version script: without the
#   script, STB_GNU_UNIQUE symbols of one plugin would bind to those of another);
# - links no part of the core, with -z defs to prove it;
# - lands beside the core library, where the loader looks: <libdir>/tessera/.
# The macro TESSERA_BACKEND_NAME holds the name as a string.

set(TESSERA_BACKEND_VERSION_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/backend.map")

function(tessera_add_backend name)
  cmake_parse_arguments(arg "" "VARIANT" "SOURCES;LINK;OPTIONS;DEFINITIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "tessera_add_backend(${name}): needs SOURCES, does not know '${arg_UNPARSED_ARGUMENTS}'.")
  endif()
  set(full_name ${name})
  if(arg_VARIANT)
    string(APPEND full_name "-${arg_VARIANT}")
  endif()
  set(target tessera_backend_${full_name})

  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE tessera::headers ${arg_LINK})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE "TESSERA_BACKEND_NAME=\"${name}\"" ${arg_DEFINITIONS})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  # clang leaves the sanitizers' own symbols to the program.
  if(NOT (CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize"))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  target_link_options(${target} PRIVATE
    "LINKER:--version-script=${TESSERA_BACKEND_VERSION_SCRIPT}" LINKER:--gc-sections)
  set_target_properties(${target} PROPERTIES
    LINK_DEPENDS "${TESSERA_BACKEND_VERSION_SCRIPT}"
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  if(TESSERA_BACKEND_OUTPUT_DIRECTORY)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${TESSERA_BACKEND_OUTPUT_DIRECTORY}")
  endif()
  if(TESSERA_INSTALL)
    include(GNUInstallDirs)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera COMPONENT tessera_backend_${name})
  endif()
endfunction()

# The best of v2, v3 and v4 that this machine's processor has, as Linux tells (x86-64 psABI, table 3.1); "" for none.
function(tessera_own_level result)
  set(needs_v2 cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3)
  set(needs_v3 abm avx avx2 bmi1 bmi2 f16c fma movbe)
  set(needs_v4 avx512f avx512bw avx512cd avx512dq avx512vl)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(level "")
  foreach(next v2 v3 v4)
    list(REMOVE_ITEM needs_${next} ${flags})
    if(needs_${next})
      break()
    endif()
    set(level ${next})
  endforeach()
  set(${result} "${level}" PARENT_SCOPE)
endfunction()

# Declares TESSERA_<kind>_VARIANTS, for which x86-64 instruction sets such backends are built. `native` stands for the
# best of this machine.
function(tessera_declare_variants kind)
  set(TESSERA_${kind}_VARIANTS ${ARGN} CACHE STRING "x86-64 instruction sets that ${kind} backends are built for")
  set(variants ${TESSERA_${kind}_VARIANTS})
  set(unknown ${variants})
  list(REMOVE_ITEM unknown v2 v3 v4 native)
  if(unknown OR NOT variants)
    message(FATAL_ERROR "TESSERA_${kind}_VARIANTS is '${variants}'; it must be a list of v2, v3, v4 and native (the "
      "best that this machine has), such as 'v2;v3;v4'.")
  endif()
  if("native" IN_LIST variants)
    tessera_own_level(own)
    if(CMAKE_CROSSCOMPILING OR NOT own)
      message(FATAL_ERROR "TESSERA_${kind}_VARIANTS is '${variants}', but what this machine has is not known or not "
        "what is built for: name v2, v3 or v4 in place of native.")
    endif()
    list(TRANSFORM variants REPLACE "^native$" ${own})
    list(REMOVE_DUPLICATES variants)
    list(SORT variants)
  endif()
  set(TESSERA_${kind}_VARIANTS ${variants} PARENT_SCOPE)
endfunction()

# For the summary: "x86-64 v3" of a list of variants, with a word about those that are missing.
function(tessera_describe_variants variants result)
  list(JOIN variants ", " text)
  set(missing v2 v3 v4)
  list(REMOVE_ITEM missing ${variants})
  if(missing)
    list(JOIN missing " or " missing)
    string(APPEND text ", nothing for processors with ${missing} (TESSERA_CPU_VARIANTS, `./bootstrap.sh build`)")
  endif()
  set(${result} "x86-64 ${text}" PARENT_SCOPE)
endfunction()

# The objects of a backend, those of libraries that it is linked from included: its property TESSERA_OBJECT_LIBRARIES.
function(tessera_backend_objects name result)
  set(objects $<TARGET_OBJECTS:tessera_backend_${name}>)
  get_target_property(libraries tessera_backend_${name} TESSERA_OBJECT_LIBRARIES)
  if(libraries)
    foreach(library IN LISTS libraries)
      list(APPEND objects $<TARGET_OBJECTS:${library}>)
    endforeach()
  endif()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# The names of the backends that are built, "cpu-v3" or "cuda", read from their targets: nothing to list by hand.
function(tessera_built_backends directory result)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  set(found)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "MODULE_LIBRARY" AND target MATCHES "^tessera_backend_(.+)$")
      list(APPEND found ${CMAKE_MATCH_1})
    endif()
  endforeach()
  foreach(subdirectory ${below})
    tessera_built_backends(${subdirectory} inner)
    list(APPEND found ${inner})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()
