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

/// [finishes][cluster][trans_a][trans_b], for operands that may be copied 16 bytes at a time and for any. Those that
/// finish apply a bias and an activation. Null where the tile is not for those operands.
template <class A>
struct MultistageKernels {
  using Kernel = void (*)(SlicedArguments<typename MultistageLayout<A>::T>);
  Kernel vectorized[2][2][2][2], scalar[2][2][2][2];
};

/// Those of tile number kTile of kMultistageTiles<A>.
template <class A, std::size_t kTile>
MultistageKernels<A> multistage_kernels_of();

}  // namespace tessera::cuda
