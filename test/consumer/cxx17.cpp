// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// C++17 with the C interface: nothing makes it C++20.

#include <tessera/tessera.h>

#include <cstdio>

static_assert(__cplusplus < 202002L, "the project asked for C++17");

int main() { return std::printf("%s\n", tessera_version()) > 0 && tessera_backend_count() >= 0 ? 0 : 1; }
