# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# `cpack -G TGZ` and `cpack -G DEB` in the build tree: a package for each component. debian/ makes those of Debian.
get_cmake_property(CPACK_COMPONENTS_ALL COMPONENTS)
list(FILTER CPACK_COMPONENTS_ALL INCLUDE REGEX "^tessera_")
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR "The Tessera Authors")
set(CPACK_PACKAGE_CONTACT "The Tessera Authors <tessera@example.org>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

# What the files need of the system, where there is the tool that knows; libtessera itself by the component.
find_program(TESSERA_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(TESSERA_DPKG_SHLIBDEPS)
if(TESSERA_DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
endif()

# The names that debian/control has.
get_target_property(so_version tessera SOVERSION)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(REGEX REPLACE "^tessera_backend_" "tessera-backend-" package ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  if(NOT component STREQUAL "tessera_runtime")
    set(CPACK_COMPONENT_${upper}_DEPENDS tessera_runtime)
  endif()
endforeach()
set(CPACK_DEBIAN_TESSERA_RUNTIME_PACKAGE_NAME libtessera${so_version})
set(CPACK_DEBIAN_TESSERA_DEVELOPMENT_PACKAGE_NAME libtessera-dev)
set(CPACK_DEBIAN_TESSERA_TOOLS_PACKAGE_NAME tessera-bin)
set(CPACK_DEBIAN_TESSERA_PYTHON_PACKAGE_NAME python3-tessera)
include(CPack)
