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

template <class T>
struct WarpgroupArguments {
  CUtensorMap map_a, map_b;
  SlicedArguments<T> x;
  int shift_a, shift_b;     ///< elements from where a map begins, at a multiple of 16 bytes, to the operand's first one
  bool a_varies, b_varies;  ///< with the matrix of the batch
};

/// [plain][trans_a][trans_b]
template <class T>
struct WarpgroupKernels {
  void (*kernels[2][2][2])(WarpgroupArguments<T>);
};

/// Those of a tile of the list.
template <class T, int kNumber>
WarpgroupKernels<T> warpgroup_kernels_of();

}  // namespace tessera::cuda
