// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup in f16.
#include "warpgroup.cuh"

namespace tessera::cuda {

template const WarpgroupKernels<float16>& warpgroup_kernels_of<float16, 0>();
template const WarpgroupKernels<float16>& warpgroup_kernels_of<float16, 1>();
template const WarpgroupKernels<float16>& warpgroup_kernels_of<float16, 2>();
template const WarpgroupKernels<float16>& warpgroup_kernels_of<float16, 3>();
template const WarpgroupKernels<float16>& warpgroup_kernels_of<float16, 4>();

}  // namespace tessera::cuda
