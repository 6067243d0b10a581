/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_VERSION_H
#define TESSERA_VERSION_H

/* The one place that states the version; CMake reads it from here. */
#define TESSERA_VERSION_MAJOR 0
#define TESSERA_VERSION_MINOR 2
#define TESSERA_VERSION_PATCH 0

#endif
