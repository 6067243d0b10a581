// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of skinny_parts for two f32.
#include "skinny_parts.cuh"

namespace tessera::cuda {

template SkinnyPartsKernel skinny_parts_kernel<float, float>(int, bool);

}  // namespace tessera::cuda
