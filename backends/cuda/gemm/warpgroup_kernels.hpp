// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup and their arguments. The files warpgroup_<type>.cu instantiate them, for devices of compute
/// capability 9.0 alone.
#pragma once

#include "slices.cuh"
#include "warpgroup_tiles.hpp"

#include <cuda.h>

namespace tessera::cuda {

/// What bulk copies know of an operand.
struct WarpgroupMap {
  CUtensorMap map;
  bool varies;  ///< with the matrix of the batch
};

template <class T>
struct WarpgroupArguments {
  WarpgroupMap a, b;
  SlicedArguments<T> x;
};

/// [trans_a][trans_b]. Plain ones are for arguments without C, bias and activation, whose D has 16 bits and rows that
/// begin at multiples of 16 bytes; the others for any. Single ones read operands at any address, element by element,
/// and have no clusters. All add in the same order.
template <class T>
struct WarpgroupKernels {
  using Kernel = void (*)(WarpgroupArguments<T>);
  Kernel plain[2][2], any[2][2], single[2][2];
};

/// Those of a tile of the list.
template <class T, int kNumber>
WarpgroupKernels<T> warpgroup_kernels_of();

}  // namespace tessera::cuda
