// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup in tf32.
#include "warpgroup.cuh"

namespace tessera::cuda {

template const WarpgroupKernels<float>& warpgroup_kernels<float>();

}  // namespace tessera::cuda
