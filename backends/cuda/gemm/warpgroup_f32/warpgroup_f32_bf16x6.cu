// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup_f32 in bf16x6.
#include "warpgroup_f32.cuh"

namespace tessera::cuda {

template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<0>() {
  return make_warpgroup_f32_kernels<Bf16x6, 0>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<1>() {
  return make_warpgroup_f32_kernels<Bf16x6, 1>();
}

}  // namespace tessera::cuda
