// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage, one set a tile. The files multistage_<type>*.cu instantiate them.
#pragma once

#include "multistage_tiles.hpp"

#include <cstddef>

namespace tessera::cuda {

template <class T>
struct SlicedArguments;

/// [copy][plain][cluster][trans_a][trans_b], for copies of kCopyBytes[copy]. Plain ones are for plain() arguments and
/// the sums of slices, the others for any. Null where the tile is not for those operands.
template <class A>
struct MultistageKernels {
  using Kernel = void (*)(SlicedArguments<typename MultistageLayout<A>::T>);
  Kernel kernels[MultistageLayout<A>::kCopyBytes.size()][2][2][2][2];
};

/// Those of tile number kTile of kMultistageTiles<A>.
template <class A, std::size_t kTile>
MultistageKernels<A> multistage_kernels_of();

}  // namespace tessera::cuda
