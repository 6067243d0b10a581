// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup in f16.
#include "warpgroup.cuh"

namespace tessera::cuda {

template const WarpgroupKernels<float16>& warpgroup_kernels<float16>();

}  // namespace tessera::cuda
