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

# Declares TESSERA_<kind>_VARIANTS, for which x86-64 instruction sets such backends are built.
function(tessera_declare_variants kind)
  set(TESSERA_${kind}_VARIANTS ${ARGN} CACHE STRING "x86-64 instruction sets that ${kind} backends are built for")
  set(unknown ${TESSERA_${kind}_VARIANTS})
  list(REMOVE_ITEM unknown v2 v3 v4)
  if(unknown OR NOT TESSERA_${kind}_VARIANTS)
    message(FATAL_ERROR "TESSERA_${kind}_VARIANTS is '${TESSERA_${kind}_VARIANTS}'; it must be a list of v2, v3 and "
      "v4, such as 'v2;v3;v4'.")
  endif()
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
