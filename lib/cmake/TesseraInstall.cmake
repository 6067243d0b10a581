# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# The package: find_package(tessera CONFIG) from the install tree and the build tree, and pkg-config.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(TARGETS tessera tessera_headers EXPORT tesseraTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_directory})
# Backends that live elsewhere are built with the same function.
install(FILES ${CMAKE_CURRENT_LIST_DIR}/TesseraBackend.cmake ${CMAKE_CURRENT_LIST_DIR}/backend.map
  DESTINATION ${package_directory})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tesseraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tesseraConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
  DESTINATION ${package_directory})

# The build tree as a package: the same two files, the targets of this build.
export(EXPORT tesseraTargets NAMESPACE tessera:: FILE ${PROJECT_BINARY_DIR}/tesseraTargets.cmake)
configure_file(${CMAKE_CURRENT_LIST_DIR}/TesseraBackend.cmake ${PROJECT_BINARY_DIR}/TesseraBackend.cmake COPYONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/backend.map ${PROJECT_BINARY_DIR}/backend.map COPYONLY)

# Relative to the .pc file's own place, so that a moved install tree still answers right.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
if(BUILD_SHARED_LIBS)
  set(pc_private_libs "")
else()
  set(pc_private_libs "-lstdc++ -ldl")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
