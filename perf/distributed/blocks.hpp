// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Blocks of arrays whose elements are a function of their place in the whole.
#pragma once

#include "device.hpp"
#include "random.hpp"

#include <cstdint>
#include <vector>

namespace tessera::perf {

/// A box of a packed array in a packed whole, both with as many axes.
struct BlockOfWhole {
  std::vector<std::int64_t> whole;           ///< its extents
  std::vector<std::int64_t> first, extents;  ///< of the box in the whole
  std::vector<std::int64_t> low, array;      ///< where the box begins in the array, and the array's extents
};

/// The box of the array gets what random_element() has at its places in the whole, by pieces that are contiguous in
/// both.
inline void fill_block(Device& device, void* array, DType dtype, const BlockOfWhole& b, std::uint64_t seed,
                       Range range = {}) {
  std::size_t outer = b.whole.size();
  std::int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= b.extents[outer];
    if (b.extents[outer] != b.whole[outer] || b.array[outer] != b.whole[outer]) break;
  }
  std::vector<std::int64_t> at(b.whole.size(), 0);
  for (;;) {
    std::int64_t here = 0, there = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      here = here * b.array[axis] + b.low[axis] + at[axis];
      there = there * b.whole[axis] + b.first[axis] + at[axis];
    }
    device.fill(static_cast<char*>(array) + std::size_t(here) * size_of(dtype), dtype, run, shifted_seed(seed, there),
                range);
    std::size_t axis = outer;
    while (axis > 0 && ++at[axis - 1] == b.extents[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace tessera::perf
