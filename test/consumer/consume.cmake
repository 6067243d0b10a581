# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Configures, builds and runs a project, and looks for the program's output.
#   cmake -D SOURCE=<dir> -D BUILD=<dir> -D GENERATOR=<name> -D ARGUMENTS=<list> -D PLUGINS=<dir or ""> -P consume.cmake
# PLUGINS empty: the program must find the backends by itself.

file(REMOVE_RECURSE ${BUILD})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} ${ARGUMENTS}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --parallel 2 COMMAND_ERROR_IS_FATAL ANY)

unset(ENV{TESSERA_BACKEND})
unset(ENV{TESSERA_BACKEND_PATH})
unset(ENV{LD_LIBRARY_PATH})
if(PLUGINS)
  set(ENV{TESSERA_BACKEND_PATH} ${PLUGINS})
  set(ENV{TESSERA_BACKEND} fake)
endif()
execute_process(COMMAND ${BUILD}/program OUTPUT_VARIABLE output COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${output}")
if(NOT output MATCHES "4 5\n10 11\n")
  message(FATAL_ERROR "The program printed something else than the product.")
endif()

# A backend that the project made for itself.
if(EXISTS ${BUILD}/plugins)
  set(ENV{TESSERA_BACKEND_PATH} ${BUILD}/plugins)
  set(ENV{TESSERA_BACKEND} stranger)
  execute_process(COMMAND ${BUILD}/program OUTPUT_VARIABLE output COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "stranger:0 zero")
    message(FATAL_ERROR "The program did not use the project's own backend: ${output}")
  endif()
endif()
