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

/// The taps of a group around its centre: on the outer axes, and at one offset of axis 2.
enum class Pattern { point, line0, line1, plus, box };  // lines of three along axis 0 or 1
inline constexpr std::array kPatterns{Pattern::box, Pattern::plus, Pattern::line0, Pattern::line1, Pattern::point};

/// Whether a pattern has a tap at these distances from its centre on axes 0 and 1.
constexpr bool has_tap(Pattern pattern, std::int64_t d0, std::int64_t d1) {
  if (d0 < -1 || d0 > 1 || d1 < -1 || d1 > 1) return false;
  switch (pattern) {
    case Pattern::point:
      return d0 == 0 && d1 == 0;
    case Pattern::line0:
      return d1 == 0;
    case Pattern::line1:
      return d0 == 0;
    case Pattern::plus:
      return d0 == 0 || d1 == 0;
    case Pattern::box:
      return true;
  }
  return false;
}

/// The taps of a pattern that come before these distances, in the order of the offsets.
constexpr int taps_before(Pattern pattern, std::int64_t d0, std::int64_t d1) {
  int count = 0;
  for (int e0 = -1; e0 <= 1; ++e0)
    for (int e1 = -1; e1 <= 1; ++e1) count += has_tap(pattern, e0, e1) && (e0 < d0 || (e0 == d0 && e1 < d1));
  return count;
}
constexpr int tap_count(Pattern pattern) { return taps_before(pattern, 2, 0); }

struct TapGroup {
  Pattern pattern;
  plugin::Index3 centre;
};

/// Puts taps in the order in which every algorithm here adds them, that of the groups that are returned.
std::vector<TapGroup> group_taps(std::vector<plugin::Tap>& taps);

}  // namespace tessera::cpu
