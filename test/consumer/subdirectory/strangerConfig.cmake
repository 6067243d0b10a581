# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
include(CMakeFindDependencyMacro)
find_dependency(tessera)
include(${CMAKE_CURRENT_LIST_DIR}/strangerTargets.cmake)
