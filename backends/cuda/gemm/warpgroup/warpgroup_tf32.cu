// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup in tf32.
#include "warpgroup.cuh"

namespace tessera::cuda {

template const WarpgroupKernels<float>& warpgroup_kernels_of<float, 0>();
template const WarpgroupKernels<float>& warpgroup_kernels_of<float, 1>();
template const WarpgroupKernels<float>& warpgroup_kernels_of<float, 2>();
template const WarpgroupKernels<float>& warpgroup_kernels_of<float, 3>();
template const WarpgroupKernels<float>& warpgroup_kernels_of<float, 4>();

}  // namespace tessera::cuda
