// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps in groups that several rows share: a vector that is loaded once serves all taps of a group.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// The taps of a group around its centre: lines of three along axis 0 or 1, a plus and a box of both; the star of
/// radius 1 has the plus, then its two taps along axis 2.
enum class Pattern { point, line0, line1, plus, box, star };
inline constexpr std::array kPatterns{Pattern::box,   Pattern::star,  Pattern::plus,
                                      Pattern::line0, Pattern::line1, Pattern::point};
/// Distances from the centre on axis 2, in the order of the taps.
inline constexpr std::array<std::int64_t, 3> kAlong{0, -1, 1};

/// Whether a pattern has a tap at these distances from its centre.
constexpr bool has_tap(Pattern pattern, std::int64_t d0, std::int64_t d1, std::int64_t d2 = 0) {
  if (d0 < -1 || d0 > 1 || d1 < -1 || d1 > 1) return false;
  if (d2 != 0) return pattern == Pattern::star && d0 == 0 && d1 == 0;
  switch (pattern) {
    case Pattern::point:
      return d0 == 0 && d1 == 0;
    case Pattern::line0:
      return d1 == 0;
    case Pattern::line1:
      return d0 == 0;
    case Pattern::plus:
    case Pattern::star:
      return d0 == 0 || d1 == 0;
    case Pattern::box:
      return true;
  }
  return false;
}

/// The taps of a pattern that come before these distances, in the order of the offsets on axes 0 and 1.
constexpr int taps_before(Pattern pattern, std::int64_t d0, std::int64_t d1, std::int64_t d2 = 0) {
  int count = 0;
  for (const std::int64_t e2 : kAlong) {
    for (int e0 = -1; e0 <= 1; ++e0)
      for (int e1 = -1; e1 <= 1; ++e1)
        count += has_tap(pattern, e0, e1, e2) && (e2 != d2 || e0 < d0 || (e0 == d0 && e1 < d1));
    if (e2 == d2) break;
  }
  return count;
}
constexpr int tap_count(Pattern pattern) { return taps_before(pattern, 2, 0, kAlong.back()); }

struct TapGroup {
  Pattern pattern;
  plugin::Index3 centre;
};

/// Puts taps in the order in which every algorithm here adds them, that of the groups that are returned.
std::vector<TapGroup> group_taps(std::vector<plugin::Tap>& taps);

/// The order for elements of 16 bits: row by row of what they read, the row with the most taps last.
void order_by_rows(std::vector<plugin::Tap>& taps);

}  // namespace tessera::cpu
