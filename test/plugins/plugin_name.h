/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** The name of the plugin, by which code that is compiled once for several of them tells which it is in. */
#pragma once

#if defined(__cplusplus)
extern "C"
#else
extern
#endif
    const char tessera_test_plugin_name[];
