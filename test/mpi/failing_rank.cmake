# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# cmake -P failing_rank.cmake -- <command>: it must fail within 10 s after "left at <second>".

cmake_minimum_required(VERSION 3.28)
set(command "")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 4 ${last}) # behind cmake -P <script> --
  list(APPEND command "${CMAKE_ARGV${i}}")
endforeach()
execute_process(COMMAND ${command} TIMEOUT 60 RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(TIMESTAMP ended "%s" UTC)
if(NOT output MATCHES "left at ([0-9]+)")
  message(FATAL_ERROR "No rank left: ${output}")
endif()
math(EXPR seconds "${ended} - ${CMAKE_MATCH_1}")
if(result EQUAL 0 OR output MATCHES "FAILED" OR seconds GREATER 10)
  message(FATAL_ERROR "The ranks ended after ${seconds} s with ${result}: ${output}")
endif()
message(STATUS "The ranks ended after ${seconds} s with ${result}.")
