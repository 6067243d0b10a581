// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps that fill a box: a dense filter.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::plugin {

/// The offsets from `first` on, so many on each axis.
struct TapBox {
  Index3 first, count;
};

/// The box that taps fill, one an offset, or nothing. Its sides are shorter than 2^20, so that products of two are
/// numbers.
inline std::optional<TapBox> filled_box(const std::vector<Tap>& taps) {
  constexpr std::int64_t kMost = std::int64_t(1) << 20;
  if (taps.empty()) return {};
  TapBox box{taps.front().offset, {}};
  Index3 last = box.first;
  for (const Tap& tap : taps)
    for (std::size_t axis = 0; axis < last.size(); ++axis) {
      box.first[axis] = (std::min)(box.first[axis], tap.offset[axis]);
      last[axis] = (std::max)(last[axis], tap.offset[axis]);
    }
  std::int64_t all = 1;
  for (std::size_t axis = 0; axis < last.size(); ++axis) {
    // Offsets may be as far apart as numbers of 64 bits: then the difference wraps.
    const std::uint64_t length = std::uint64_t(last[axis]) - std::uint64_t(box.first[axis]);
    if (length >= std::uint64_t(kMost)) return {};
    box.count[axis] = std::int64_t(length) + 1;
    all *= box.count[axis];
  }
  if (all != std::int64_t(taps.size())) return {};
  return box;
}

}  // namespace tessera::plugin
