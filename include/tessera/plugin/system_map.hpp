// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The maps of a system's factors.
#pragma once

#include <tessera/system.h>
#include <tessera/plugin/host_device.hpp>

namespace tessera::plugin {

/// A value that was read, through its map. NaN stays NaN.
template <class T>
TESSERA_HOST_DEVICE constexpr T mapped_value(tessera_map map, T x) {
  switch (map) {
    case TESSERA_MAP_ABS:
      return x < T(0) ? -x : x;
    case TESSERA_MAP_POSITIVE_PART:
      return x < T(0) ? T(0) : x;
    case TESSERA_MAP_NEGATIVE_PART:
      return x > T(0) ? T(0) : x;
    case TESSERA_MAP_RECIPROCAL:
      return T(1) / x;
    default:
      return x;
  }
}

}  // namespace tessera::plugin
