// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f32: small and narrow tiles.
#include "multistage_f32.cuh"

namespace tessera::cuda {

template MultistageKernels<float> multistage_kernels_of<float, 3>();
template MultistageKernels<float> multistage_kernels_of<float, 4>();
template MultistageKernels<float> multistage_kernels_of<float, 5>();
template MultistageKernels<float> multistage_kernels_of<float, 6>();
template MultistageKernels<float> multistage_kernels_of<float, 7>();
template MultistageKernels<float> multistage_kernels_of<float, 8>();

}  // namespace tessera::cuda
