// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Limits of a launch.
#pragma once

#include <cstdint>

namespace tessera::cuda {

inline constexpr std::int64_t kMaxGridX = 2147483647;
inline constexpr std::int64_t kMaxGridYz = 65535;

}  // namespace tessera::cuda
