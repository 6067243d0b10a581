# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Installs BUILD_TREE component by component below PREFIX: each has its own files, and all together are the whole.
#   cmake -D BUILD_TREE=<dir> -D PREFIX=<dir> -D COMPONENTS=<list> -D LIBRARY=<libtessera's name> -P components.cmake

function(install_to prefix result)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_TREE} --prefix ${prefix} ${ARGN}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE files RELATIVE ${prefix} ${prefix}/*)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# What a component must have (files whose names match) and may not (all others).
set(tessera_runtime "lib[^/]*/([^/]+/)?libtessera(_blas|_distributed)?\\.so\\.[0-9.]+;share/doc/tessera/LICENSE")
set(tessera_development "include/tessera/.*\\.h(pp)?" ".*/cmake/tessera/.*" ".*/pkgconfig/tessera\\.pc"
  ".*/libtessera(_blas|_distributed)?\\.(so|a)")
set(tessera_python ".*/tessera/.*\\.py" ".*/tessera/_core\\..*so" ".*/tessera/_core\\.pyi" ".*/tessera/py\\.typed"
  ".*/tessera-[0-9.]+\\.dist-info/METADATA")
set(tessera_tools "bin/tessera;share/man/man1/tessera(-.*)?\\.1")
if(LIBRARY MATCHES "\\.a$")
  set(tessera_runtime "share/doc/tessera/LICENSE")
endif()

file(REMOVE_RECURSE ${PREFIX})
set(together)
foreach(component IN LISTS COMPONENTS)
  install_to(${PREFIX}/${component} files --component ${component})
  if(component MATCHES "^tessera_backend_(.+)$")
    set(${component} "lib.*/tessera/libtessera_backend_${CMAKE_MATCH_1}(-v[234])?\\.so")
  endif()
  set(strays ${files})
  foreach(pattern IN LISTS ${component})
    set(found ${files})
    list(FILTER found INCLUDE REGEX "^${pattern}$")
    if(NOT found)
      message(FATAL_ERROR "${component} has no ${pattern}: ${files}")
    endif()
    list(FILTER strays EXCLUDE REGEX "^${pattern}$")
  endforeach()
  if(strays)
    message(FATAL_ERROR "${component} has also: ${strays}")
  endif()
  message(STATUS "${component}: ${files}")
  list(APPEND together ${files})
endforeach()

install_to(${PREFIX}/all all)
list(SORT all)
list(SORT together)
if(NOT together STREQUAL all)
  list(REMOVE_ITEM all ${together})
  message(FATAL_ERROR "The components are not the whole: ${all}; or some have the same file: ${together}")
endif()

# What a program needs to be built and to run, in one place.
foreach(component IN LISTS COMPONENTS)
  if(NOT component STREQUAL "tessera_tools")
    install_to(${PREFIX}/without_tools files --component ${component})
  endif()
endforeach()
