// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup in bf16.
#include "warpgroup.cuh"

namespace tessera::cuda {

template const WarpgroupKernels<bfloat16>& warpgroup_kernels_of<bfloat16, 0>();
template const WarpgroupKernels<bfloat16>& warpgroup_kernels_of<bfloat16, 1>();
template const WarpgroupKernels<bfloat16>& warpgroup_kernels_of<bfloat16, 2>();
template const WarpgroupKernels<bfloat16>& warpgroup_kernels_of<bfloat16, 3>();
template const WarpgroupKernels<bfloat16>& warpgroup_kernels_of<bfloat16, 4>();

}  // namespace tessera::cuda
