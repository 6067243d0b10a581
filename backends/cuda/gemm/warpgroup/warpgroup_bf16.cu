// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup in bf16.
#include "warpgroup.cuh"

namespace tessera::cuda {

template const WarpgroupKernels<bfloat16>& warpgroup_kernels<bfloat16>();

}  // namespace tessera::cuda
