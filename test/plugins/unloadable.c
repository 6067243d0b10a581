/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

#include <tessera/plugin/abi.h>

#include <stddef.h>

extern int tessera_test_missing(void);

__attribute__((visibility("default"))) const tessera_backend* tessera_backend_v1(void) {
  return tessera_test_missing() ? NULL : NULL;
}
