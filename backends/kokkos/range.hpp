// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one shape of MDRangePolicy that is used: three indices, the first of them along the memory.
#pragma once

#include "flavour.hpp"

namespace tessera::kokkos {

template <class... Properties>
using RangeWith = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                        Kokkos::IndexType<std::int64_t>, Properties...>;
using Range = RangeWith<>;
/// Of items of any size, which travel among a kernel's arguments. From 512 bytes on Kokkos would put others through a
/// buffer of its own, for which launches wait and which a captured graph would read when it holds something else.
using ArgumentRange = RangeWith<Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;
using RangeIndex = Kokkos::Array<std::int64_t, 3>;

/// Items from `begin` to `end`, of so many points of a row each. A tile is a block of threads, warps along the memory,
/// or what a thread does before it asks for more work.
template <class R = Range>
R range(const Space& space, const RangeIndex& begin, const RangeIndex& end, int points = 1) {
  return R(space, begin, end, kOnHost ? RangeIndex{512 / points, 8, 1} : RangeIndex{32, 8, 1});
}

}  // namespace tessera::kokkos
