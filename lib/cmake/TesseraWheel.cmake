# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# The build of a wheel. Eigen may come from pip's package cmeel-eigen, which has it beside the modules of Python.
find_package(Python REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import importlib.metadata as m; print(m.distribution('cmeel-eigen').locate_file('cmeel.prefix'))"
  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(prefix)
  list(APPEND CMAKE_PREFIX_PATH ${prefix})
endif()
