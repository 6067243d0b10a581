# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Writes what was built: run by every build, since a commit changes no file that a compiler sees.
set(commit "unknown")
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(result EQUAL 0)
  set(commit "${head}")
  execute_process(COMMAND git -C ${SOURCE} status --porcelain
    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(changes)
    string(APPEND commit "-dirty")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[#pragma once
#define TESSERA_PERF_VERSION "@VERSION@"
#define TESSERA_PERF_COMMIT "@commit@"
#define TESSERA_PERF_COMPILER "@COMPILER@"
#define TESSERA_PERF_EIGEN_VERSION "@EIGEN@"
]] @ONLY)
