// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup_f32 in f16x3.
#include "warpgroup_f32.cuh"

namespace tessera::cuda {

template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<2>() {
  return make_warpgroup_f32_kernels<F16x3, 2>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<3>() {
  return make_warpgroup_f32_kernels<F16x3, 3>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<4>() {
  return make_warpgroup_f32_kernels<F16x3, 4>();
}

}  // namespace tessera::cuda
