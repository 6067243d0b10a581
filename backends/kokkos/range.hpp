// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one shape of MDRangePolicy that is used: three indices, the first of them along the memory.
#pragma once

#include "flavour.hpp"

namespace tessera::kokkos {

using Range = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                    Kokkos::IndexType<std::int64_t>>;
using RangeIndex = Kokkos::Array<std::int64_t, 3>;

/// Items from `begin` to `end`. A tile is a block of threads, warps along the memory, or what a thread does before it
/// asks for more work.
inline Range range(const Space& space, const RangeIndex& begin, const RangeIndex& end) {
  return Range(space, begin, end, kOnHost ? RangeIndex{512, 8, 1} : RangeIndex{32, 8, 1});
}

}  // namespace tessera::kokkos
