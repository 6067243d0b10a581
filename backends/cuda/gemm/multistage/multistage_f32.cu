// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f32: large tiles.
#include "multistage_f32.cuh"

namespace tessera::cuda {

template MultistageKernels<float> multistage_kernels_of<float, 0>();
template MultistageKernels<float> multistage_kernels_of<float, 1>();
template MultistageKernels<float> multistage_kernels_of<float, 2>();

}  // namespace tessera::cuda
