/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A library that no loader finds: the plugin "unloadable" needs it. */
int tessera_test_missing(void);
int tessera_test_missing(void) { return 1; }
