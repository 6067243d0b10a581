// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Boxes of points, and the packed arrays of them.
#pragma once

#include "transport/transport.hpp"

#include <tessera/distributed.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::distributed {

inline constexpr int kAxes = TESSERA_MAX_RANK;
using Index = std::array<std::int64_t, kAxes>;

/// Points [low, high) along each axis.
struct Box {
  Index low{}, high{};

  bool operator==(const Box&) const = default;
  bool empty() const { return high[0] <= low[0] || high[1] <= low[1] || high[2] <= low[2]; }
  Index extents() const { return {high[0] - low[0], high[1] - low[1], high[2] - low[2]}; }
  std::int64_t points() const {
    const Index n = extents();
    return empty() ? 0 : n[0] * n[1] * n[2];
  }
  /// Of the packed array of its points, the last axis fastest.
  Index strides() const {
    const Index n = extents();
    return {n[1] * n[2], n[2], 1};
  }
  /// Elements from that array's begin to a point.
  std::int64_t offset(const Index& point) const {
    const Index s = strides();
    return (point[0] - low[0]) * s[0] + (point[1] - low[1]) * s[1] + (point[2] - low[2]) * s[2];
  }
};

/// `outer` without `inner`, in slabs.
std::vector<Box> around(const Box& outer, const Box& inner);

/// The points of `part` in the packed array of a box, as what is sent and as what is received.
inline Piece piece_of(const Box& part, const Box& array) {
  const Index strides = array.strides();
  const std::int64_t first = array.offset(part.low);
  return {first, first, part.extents(), {strides[0], strides[1]}, {strides[0], strides[1]}};
}

/// "4x5".
inline std::string text_of(const Index& values, int axes) {
  std::string text;
  for (int axis = 0; axis < axes; ++axis) text += (axis == 0 ? "" : "x") + std::to_string(values[std::size_t(axis)]);
  return text;
}

}  // namespace tessera::distributed
