/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * The one place that states the version; CMake reads it from here. */
#ifndef TESSERA_VERSION_H
#define TESSERA_VERSION_H

/** The first number: where it grows, anything may change. */
#define TESSERA_VERSION_MAJOR 0
/** The second number: it grows with new functions, before 1.0 also where the API or the ABI changes. */
#define TESSERA_VERSION_MINOR 3
/** The third number: where it grows, programs and plugins go on working. */
#define TESSERA_VERSION_PATCH 0

#endif
