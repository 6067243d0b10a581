// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the columns of a domain are cut into strips, for host and device.
#pragma once

#include <tessera/plugin/boundary.hpp>

namespace tessera::cuda {

inline constexpr int kStripColumns = 4;  ///< of a lane
inline constexpr int kStripWidth = 32 * kStripColumns;

/// Columns that a warp holds, and those that it writes.
struct Strip {
  int begin;       ///< the first that it holds
  int from, to;    ///< it writes [from, to)
  bool low, high;  ///< its first, its last column ends a closed axis
};

/// Strips hold `width` columns and overlap, since `margin` of them are lost on either side within a pass, unless the
/// axis ends there. A strip at a closed end begins or ends with it, so that the end lies between two lanes; all others
/// begin at multiples of `unit`. A closed axis has at least `width` columns.
struct StripCut {
  int extent, width, margin, unit;
  bool closed;

  TESSERA_HOST_DEVICE int inner() const { return width - 2 * margin; }
  TESSERA_HOST_DEVICE int outer() const { return width - margin; }

  TESSERA_HOST_DEVICE int count() const {
    if (!closed) return (extent + inner() - 1) / inner();
    if (extent == width) return 1;
    const int between = extent - 2 * outer();
    return between > 0 ? 2 + (between + inner() - 1) / inner() : 2;
  }

  TESSERA_HOST_DEVICE Strip strip(int index, int count) const {
    if (!closed) {
      const int from = index * inner();
      return {from - margin, from, least(from + inner(), extent), false, false};
    }
    if (count == 1) return {0, 0, extent, true, true};
    const int last_from = (extent - outer() + unit - 1) / unit * unit;
    if (index == 0) return {0, 0, least(outer(), last_from), true, false};
    if (index == count - 1) return {extent - width, last_from, extent, false, true};
    const int from = outer() + (index - 1) * inner();
    return {least(from - margin, (extent - width) / unit * unit), from, least(from + inner(), last_from), false, false};
  }

 private:
  TESSERA_HOST_DEVICE static int least(int a, int b) { return a < b ? a : b; }
};

}  // namespace tessera::cuda
