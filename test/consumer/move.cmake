# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Installs BUILD_TREE to FROM and renames that to TO.
file(REMOVE_RECURSE ${FROM} ${TO})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_TREE} --prefix ${FROM} COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${FROM} ${TO})
