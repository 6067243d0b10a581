// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of skinny_parts for f32 and f16.
#include "skinny_parts_f32.cuh"

namespace tessera::cuda {

template SkinnyPartsKernel skinny_parts_kernel<float16>(bool, int, bool);

}  // namespace tessera::cuda
