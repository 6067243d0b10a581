# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Configures, builds and runs a project, and looks for the programs' output.
#   cmake -D SOURCE=<dir> -D BUILD=<dir> -D GENERATOR=<name> -D ARGUMENTS=<list> -D PLUGINS=<dir or ""> -P consume.cmake
# PLUGINS empty: the program must find the backends by itself. -D CONFIGURED_ONLY=ON: nothing is built.

cmake_minimum_required(VERSION 3.28)
file(REMOVE_RECURSE ${BUILD})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} ${ARGUMENTS}
  COMMAND_ERROR_IS_FATAL ANY)
# Once more: what the first time put into the cache is there from the beginning.
execute_process(COMMAND ${CMAKE_COMMAND} ${BUILD} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(CONFIGURED_ONLY)
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --parallel 2 COMMAND_ERROR_IS_FATAL ANY)

unset(ENV{TESSERA_BACKEND})
unset(ENV{TESSERA_BACKEND_PATH})
unset(ENV{LD_LIBRARY_PATH})
if(PLUGINS)
  set(ENV{TESSERA_BACKEND_PATH} ${PLUGINS})
  set(ENV{TESSERA_BACKEND} fake)
endif()
foreach(program program program_c program_blas)
  if(NOT program STREQUAL "program" AND NOT EXISTS ${BUILD}/${program})
    continue()
  endif()
  execute_process(COMMAND ${BUILD}/${program} OUTPUT_VARIABLE output COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "${output}")
  if(NOT output MATCHES "4 5\n10 11\n")
    message(FATAL_ERROR "The program printed something else than the product.")
  endif()
endforeach()
foreach(program program_cxx17 program_distributed program_mpi)
  if(EXISTS ${BUILD}/${program})
    execute_process(COMMAND ${BUILD}/${program} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

# Plugins of a project around Tessera are found where they are built.
if(EXISTS ${BUILD}/tessera)
  unset(ENV{TESSERA_BACKEND_PATH})
  file(COPY ${PLUGINS}/libtessera_backend_fake.so DESTINATION ${BUILD}/tessera/lib/tessera)
  execute_process(COMMAND ${BUILD}/program OUTPUT_VARIABLE output COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "4 5\n10 11\n")
    message(FATAL_ERROR "The program printed something else than the product.")
  endif()
endif()

# A project around Tessera installs what is its own, unless it asks for Tessera, too.
if(EXISTS ${BUILD}/tessera)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${BUILD}/installed
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE installed RELATIVE ${BUILD}/installed ${BUILD}/installed/*)
  set(tesseras ${installed})
  list(FILTER tesseras INCLUDE REGEX tessera)
  if(NOT "bin/program" IN_LIST installed OR ("${ARGUMENTS}" MATCHES "TESSERA_INSTALL=ON" AND NOT tesseras) OR
      (NOT "${ARGUMENTS}" MATCHES "TESSERA_INSTALL=ON" AND tesseras))
    message(FATAL_ERROR "The project installed: ${installed}")
  endif()
endif()

# A backend that the project made for itself.
if(EXISTS ${BUILD}/plugins)
  set(ENV{TESSERA_BACKEND_PATH} ${BUILD}/plugins)
  set(ENV{TESSERA_BACKEND} stranger)
  execute_process(COMMAND ${BUILD}/program OUTPUT_VARIABLE output COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "stranger/zero")
    message(FATAL_ERROR "The program did not use the project's own backend: ${output}")
  endif()
endif()
