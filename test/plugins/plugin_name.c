/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "plugin_name.h"

const char tessera_test_plugin_name[] = TESSERA_BACKEND_NAME;
