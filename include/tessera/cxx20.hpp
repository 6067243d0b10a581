// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Says what the C++ headers need, before a compiler complains of what it does not know in them.
#pragma once

#if __cplusplus < 202002L
#error "Tessera's C++ headers need C++20 (-std=c++20, CMAKE_CXX_STANDARD 20). C and older C++ include tessera/tessera.h"
#endif
