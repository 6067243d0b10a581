// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The boundary modes that the cases go through, and what may stand on the two sides of an axis.
#pragma once

#include <tessera/stencil.hpp>

#include <cstddef>
#include <iterator>

namespace tessera::test {

/// Without the last one there is no halo: most lists of several steps leave it out.
inline constexpr std::size_t kModeCount = std::size(kBoundaries);

/// Periodic is the business of both sides.
inline bool possible(Boundary low, Boundary high) {
  return (low == Boundary::periodic) == (high == Boundary::periodic);
}

/// Both sides of an axis: the low one's mode on both where one alone would be periodic.
inline BoundaryAxis sides(BoundarySide low, BoundarySide high) {
  if (!possible(low.mode, high.mode)) high.mode = low.mode;
  return {low, high};
}

/// The mode on every side, with a value of its own on each: integers, so that exact cases stay exact.
inline Boundaries everywhere(Boundary mode, int rank) {
  std::vector<BoundaryAxis> axes;
  for (int axis = 0; axis < rank; ++axis)
    axes.push_back({BoundarySide(mode, 2.0 + 2 * axis), BoundarySide(mode, -3.0 - 2 * axis)});
  return Boundaries(axes);
}

}  // namespace tessera::test
