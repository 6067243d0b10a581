# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Installs a project around Tessera to PREFIX, and Tessera with it; the installed program must find libtessera.
#   cmake -D BUILD=<dir> -D PREFIX=<dir> -D PLUGINS=<dir of the emulated backend> -P install_all.cmake

file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} -DTESSERA_INSTALL=ON -DEXPORTED=ON ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

unset(ENV{LD_LIBRARY_PATH})
set(ENV{TESSERA_BACKEND_PATH} ${PLUGINS})
set(ENV{TESSERA_BACKEND} fake)
execute_process(COMMAND ${PREFIX}/bin/program OUTPUT_VARIABLE output COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "4 5\n10 11\n")
  message(FATAL_ERROR "The program printed something else than the product: ${output}")
endif()
