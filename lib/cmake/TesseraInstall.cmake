# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# The package: find_package(tessera CONFIG) from the install tree and the build tree, and pkg-config. Its components
# are tessera_runtime, tessera_development, tessera_tools and, from tessera_add_backend(), tessera_backend_<name>.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(TARGETS tessera EXPORT tesseraTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tessera_runtime NAMELINK_COMPONENT tessera_development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tessera_development)
install(TARGETS tessera_headers EXPORT tesseraTargets)
# Not CMAKE_INSTALL_DOCDIR, which is that of the project around this one.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tessera
  COMPONENT tessera_runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT tessera_development)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_directory} COMPONENT tessera_development)

# What find_package() looks for as a component, seen from the package's prefix; tessera::mpi links tessera::distributed.
set(has_distributed FALSE)
if(TARGET tessera::distributed)
  set(has_distributed TRUE)
endif()
set(plugin_directory ${CMAKE_INSTALL_FULL_LIBDIR}/tessera)
set(program ${CMAKE_INSTALL_FULL_BINDIR}/tessera)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tesseraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/installed/tesseraConfig.cmake INSTALL_DESTINATION ${package_directory}
  PATH_VARS plugin_directory program)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Backends that live elsewhere are built with the same function.
install(FILES ${PROJECT_BINARY_DIR}/installed/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
    ${CMAKE_CURRENT_LIST_DIR}/TesseraBackend.cmake ${CMAKE_CURRENT_LIST_DIR}/backend.map
  DESTINATION ${package_directory} COMPONENT tessera_development)

# The build tree as a package: the same files, the targets of this build.
set(plugin_directory ${PROJECT_BINARY_DIR}/lib/tessera)
set(program ${PROJECT_BINARY_DIR}/bin/tessera)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tesseraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tesseraConfig.cmake INSTALL_DESTINATION ${PROJECT_BINARY_DIR}
  INSTALL_PREFIX ${PROJECT_BINARY_DIR} PATH_VARS plugin_directory program)
export(EXPORT tesseraTargets NAMESPACE tessera:: FILE ${PROJECT_BINARY_DIR}/tesseraTargets.cmake)
configure_file(${CMAKE_CURRENT_LIST_DIR}/TesseraBackend.cmake ${PROJECT_BINARY_DIR}/TesseraBackend.cmake COPYONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/backend.map ${PROJECT_BINARY_DIR}/backend.map COPYONLY)

# Relative to the .pc file's own place, so that a moved install tree still answers right.
set(pc_directory ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
foreach(place PREFIX FULL_LIBDIR FULL_INCLUDEDIR)
  file(RELATIVE_PATH pc_to_${place} ${pc_directory} ${CMAKE_INSTALL_${place}})
  string(REGEX REPLACE "/$" "" pc_to_${place} "${pc_to_${place}}")
endforeach()
set(pc_libs "-ltessera")
if(NOT BUILD_SHARED_LIBS) # whoever links it may be a C program
  set(standard_library ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
  list(FILTER standard_library INCLUDE REGEX "^(std)?c\\+\\+$")
  list(JOIN standard_library " -l" standard_library)
  string(APPEND pc_libs " -l${standard_library} -ldl -lm")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT tessera_development)
