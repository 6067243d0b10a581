// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup in bf16.
#include "warpgroup.cuh"

namespace tessera::cuda {

template WarpgroupKernels<bfloat16> warpgroup_kernels_of<bfloat16, 0>();
template WarpgroupKernels<bfloat16> warpgroup_kernels_of<bfloat16, 1>();
template WarpgroupKernels<bfloat16> warpgroup_kernels_of<bfloat16, 2>();
template WarpgroupKernels<bfloat16> warpgroup_kernels_of<bfloat16, 3>();
template WarpgroupKernels<bfloat16> warpgroup_kernels_of<bfloat16, 4>();

}  // namespace tessera::cuda
