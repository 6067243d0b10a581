/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_VERSION_H
#define TESSERA_VERSION_H

/* CMake reads the version from here; what else names it must agree (rules.version). */
#define TESSERA_VERSION_MAJOR 0
#define TESSERA_VERSION_MINOR 3
#define TESSERA_VERSION_PATCH 0

#endif
