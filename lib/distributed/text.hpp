// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Boxes and points in words.
#pragma once

#include "decomposition.hpp"

#include <string>

namespace tessera::distributed {

inline std::string text_of(const Index& values, int rank) {
  std::string text;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != 0) text += 'x';
    text += std::to_string(values[std::size_t(axis)]);
  }
  return text;
}

}  // namespace tessera::distributed
